package cephupgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
)

// turn is what an upgrade does next. The turns exclude each other.
type turn string

const (
	// check: the spec does not permit to go on, or the attempt has no record.
	check turn = "check"
	// repair: a daemon must serve first.
	repair turn = "repair"
	// replace: one step of the order.
	replace turn = "replace"
	// require: OSDs of the older release are to be refused from now on.
	require turn = "require"
	// dead: an OSD that does not come back holds up the release.
	dead turn = "dead"
	// approve: the daemons of the policy are done, and others are left.
	approve turn = "approve"
	// done: every daemon is as desired.
	done turn = "done"
)

// plan is the next turn with its reason.
type plan struct {
	turn turn
	// step of a replace.
	step order.Step
	// target of the step's daemon.
	target decision.Image
	// text is why, for status.
	text string
}

// next returns what the upgrade does next.
func (f *Facts) next(c *Cluster, m *Memory) plan {
	d := f.decide(c, m)
	ending := slices.IndexFunc(f.Daemons, func(d Daemon) bool {
		return d.Name.Type == ceph.TypeOSD && slices.Contains(m.NoOut, d.Name.ID) && f.ends(c, &d)
	})
	switch {
	case ending >= 0:
		return plan{turn: repair, text: f.Daemons[ending].Name.String() + " was replaced, and its pod from before still runs: it keeps the flag noout until that has ended"}
	case d.Outcome != decision.Permitted:
		return plan{turn: check, text: "the spec is to be checked again"}
	case !f.recorded(m):
		return plan{turn: check, text: "the attempt is to be recorded"}
	}
	return f.planned(c, &d)
}

// planned returns what is left to do once the spec is permitted and the attempt is recorded.
func (f *Facts) planned(c *Cluster, d *decision.Decision) plan {
	for i := range f.Daemons {
		switch one := &f.Daemons[i]; {
		case one.ByHand != "" && !f.recalled(c, one, d.Targets):
			return plan{turn: repair, text: fmt.Sprintf("the image %s was set in the Deployment of %s, which has not reported its version yet%s", one.ByHand, one.Name, one.trouble())}
		case f.starting(c, one, d.Targets) && c.lost(one):
			return plan{turn: dead, text: outText([]string{one.Name.String()})}
		case f.starting(c, one, d.Targets):
			return plan{turn: repair, text: one.Name.String() + " was replaced and has not started on its version yet"}
		}
	}
	all := f.ordered(c, d.Targets)
	step, left := order.Next(all, f.standbys(d.Targets))
	if _, due := f.release(c, d.Targets); due && !slices.ContainsFunc(all, precedesRelease) {
		return f.requiring(c, d.Targets)
	}
	switch {
	case left && step.Kind == order.Wait:
		return f.waiting(c, step)
	case left && takes(all, step) && len(f.dead(c, step.Daemon)) > 0:
		return plan{turn: dead, text: outText(f.dead(c, step.Daemon))}
	case left:
		t, text := step.Daemon.Type, step.Daemon.String()+" is to be replaced"
		if step.Kind == order.Reduce {
			t, text = ceph.TypeMDS, "the filesystem "+step.Filesystem+" is to be reduced to one metadata server"
		}
		return plan{turn: replace, step: step, target: d.Targets[t], text: text}
	case f.partial(d.Targets):
		return plan{turn: approve, text: "the daemons of the policy are done"}
	}
	return plan{turn: done, text: "every daemon is as desired"}
}

// recalled reports whether the image that an administrator set in the Deployment of the daemon never ran, and the spec asks for another one
// than it ran before: that replaces it.
func (f *Facts) recalled(c *Cluster, d *Daemon, targets map[ceph.Type]decision.Image) bool {
	return d.Unpulled && c.failing(d) && f.differs(c, d, targets) && f.follows(c, d, targets)
}

// waiting is the turn of a daemon that is to be replaced, and is held or does not serve.
func (f *Facts) waiting(c *Cluster, step order.Step) plan {
	switch o, known := c.osd(step.Daemon); {
	case !known && step.Daemon.Type == ceph.TypeOSD:
		return plan{turn: repair, text: step.Daemon.String() + " is not in the OSD map: if it stays away, it counts as removed from Ceph"}
	case known && !o.Up && o.New:
		return plan{turn: repair, text: step.Daemon.String() + " is new and has not come up yet: if its pod does not start, correct that first"}
	case known && !o.Up && !o.In:
		return plan{turn: dead, text: outText([]string{step.Daemon.String()})}
	case known && !o.Up && noUp(c, step.Daemon) != nil:
		return plan{turn: repair, text: noUp(c, step.Daemon).Message}
	case known && !o.Up && (o.NoOut || slices.Contains(c.OSDs.Flags, "noout")):
		return plan{turn: repair, text: fmt.Sprintf("%s is down, and the flag noout keeps Ceph from marking it out: repair it, or remove the flag", step.Daemon)}
	}
	if d := f.find(step.Daemon); d != nil && d.Held != nil {
		return plan{turn: repair, text: d.Held.Message}
	}
	return plan{turn: repair, text: step.Daemon.String() + " does not serve: it is repaired on its version before it is replaced"}
}

// due reports whether anything is left to do. A flag of an OSD that was replaced is kept until it has started, and removed then.
func (f *Facts) due(c *Cluster, m *Memory) bool {
	d := f.decide(c, m)
	return d.Outcome != decision.Permitted || f.planned(c, &d).turn != done || len(m.NoOut) > 0 || len(m.Upgrade.Back) > 0 || len(m.Upgrade.Builds) > 0 || f.unnamed(m)
}

// unnamed reports whether the spec asks for an image that no attempt has recorded, as after a launch, or after a change of its name alone. An
// attempt records it, also if it replaces no daemon: what the spec asks for later is a request only if it differs from what was recorded.
func (f *Facts) unnamed(m *Memory) bool {
	return len(f.Daemons) > 0 && slices.ContainsFunc(f.Spec.ImageNames(), func(name string) bool { return !slices.Contains(m.Upgrade.Named, name) })
}

// differs reports whether the daemon is to be replaced. Two names of one version are the same, unless the attempt replaces the image of the
// daemon by another build, or the daemon does not start on that image: another name is how such an image is corrected.
func (f *Facts) differs(c *Cluster, d *Daemon, targets map[ceph.Type]decision.Image) bool {
	target, moves := targets[d.Name.Type]
	return d.Outdated || d.Stopped || moves && (!d.on(target) || target.Replaces(d.launched()) || d.Image != target.Name && (d.Unpulled || c.unstartable(d)))
}

// unstartable reports whether the daemon does not start on the image that it has. A gateway that is not ready for a moment has started.
func (c *Cluster) unstartable(d *Daemon) bool {
	if d.Name.Type == ceph.TypeRGW {
		return !d.Ready && d.Trouble != nil
	}
	return !c.started(d)
}

// on reports whether the Deployment of the daemon has the target. Builds without a version are told apart by their images.
func (d *Daemon) on(target decision.Image) bool {
	if launched := d.launched(); target.Version.IsZero() && d.Launched.IsZero() {
		return launched.SameAs(target)
	}
	return d.Launched.Same(target.Version)
}

// moves reports whether the version of the daemon is that of the policy, or that of the spec without one.
func (f *Facts) moves(d *Daemon, targets map[ceph.Type]decision.Image) bool {
	target, moves := targets[d.Name.Type]
	return moves && (!f.partial(targets) || target.SameAs(f.Spec.Policy.Image))
}

// starting reports whether the daemon was replaced and has not started on its version yet.
func (f *Facts) starting(c *Cluster, d *Daemon, targets map[ceph.Type]decision.Image) bool {
	return !f.differs(c, d, targets) && !c.runs(d).Same(d.Launched)
}

// ends reports whether the daemon is an OSD that serves without a pod of its present template: its Deployment was changed, and the process from
// before will be ended.
func (f *Facts) ends(c *Cluster, d *Daemon) bool {
	o, _ := c.osd(d.Name)
	return o.Up && d.Pod == "" && !d.Stopped
}

// ordered returns the daemons as their order depends on them. A daemon that never started on what it was launched with, or whose pod does
// not start as the spec wanted it before, cannot be repaired on it, and a gateway has nothing to repair: they are replaced although they do
// not serve. So is one whose image cannot be pulled, or is replaced by another build, if it does not keep running: the build may be why.
func (f *Facts) ordered(c *Cluster, targets map[ceph.Type]decision.Image) (all []order.Daemon) {
	for i := range f.Daemons {
		d := &f.Daemons[i]
		one := order.Daemon{Name: d.Name, Filesystem: d.Filesystem, Outdated: f.differs(c, d, targets), Held: d.Held != nil}
		one.Serving, one.Leading, one.Following = c.role(d)
		one.Current = one.Outdated && stays(d, targets) && c.runs(d).Same(d.Launched)
		failing := c.failing(d)
		rebuilt := one.Outdated && c.ailing(d) && stays(d, targets) && (d.Unpulled || targets[d.Name.Type].Replaces(d.launched()))
		one.Stopped, one.Broken = d.Stopped || failing, failing && !d.Stopped && f.follows(c, d, targets) || c.unstarted(d) && stays(d, targets) || rebuilt
		all = append(all, one)
	}
	return all
}

// stays reports whether the daemon is to run the version of its Deployment.
func stays(d *Daemon, targets map[ceph.Type]decision.Image) bool {
	target, moves := targets[d.Name.Type]
	return !moves || d.on(target)
}

// follows reports whether the daemons of the types before that of a daemon run the release of its target, or a newer one. Of a development
// build it is not known. A gateway that is not ready may be starting, and has not failed before its container did.
func (f *Facts) follows(c *Cluster, d *Daemon, targets map[ceph.Type]decision.Image) bool {
	target, moves := targets[d.Name.Type]
	if !moves || d.Name.Type == ceph.TypeRGW && d.Trouble == nil || target.Version.IsZero() {
		return false
	}
	return !slices.ContainsFunc(f.Daemons, func(before Daemon) bool {
		earlier := slices.Index(ceph.Types(), before.Name.Type) < slices.Index(ceph.Types(), d.Name.Type)
		return earlier && before.Name.Type != ceph.TypeRGW && c.runs(&before).Major < target.Version.Major
	})
}

// standbys says what happens to the standbys of a filesystem. They stop if the release is not known. If no metadata server changes its
// version, there is none beside which another may not run: standbys are replaced first, and one is there for clients all the time.
func (f *Facts) standbys(targets map[ceph.Type]decision.Image) versions.Standbys {
	changes := func(d Daemon) bool { return d.Name.Type == ceph.TypeMDS && !stays(&d, targets) }
	if !slices.ContainsFunc(f.Daemons, changes) {
		return versions.StandbysUpgrade
	}
	if r, known := f.Spec.Table.Release(targets[ceph.TypeMDS].Version.Major); known {
		return r.MDSStandbys
	}
	return versions.StandbysStop
}

// partial reports whether the policy leaves daemons on another version than its own.
func (f *Facts) partial(targets map[ceph.Type]decision.Image) bool {
	for i := range f.Daemons {
		target, moves := targets[f.Daemons[i].Name.Type]
		if f.Spec.Policy != nil && !(moves && target.SameAs(f.Spec.Policy.Image)) {
			return true
		}
	}
	return false
}

// list names at most three daemons.
func list(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}
