package cephupgrade

import (
	"slices"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/machines/cephupgrade/health"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
	"github.com/detent-dev/detent/transitions"
)

// Verb is what an effect does. Every effect may be repeated.
type Verb string

// Verbs.
const (
	// Detect detects the version of Image.
	Detect Verb = "detect"
	// Record stores Upgrade.
	Record Verb = "record"
	// SetNoOut stores that the flag noout of Daemon is the upgrade's, and then sets it. UnsetNoOut removes the flag, and then what was
	// stored.
	SetNoOut   Verb = "set-noout"
	UnsetNoOut Verb = "unset-noout"
	// RecordSettings stores Settings. RestoreSettings changes their filesystem back to them, and then removes what was stored.
	RecordSettings  Verb = "record-settings"
	RestoreSettings Verb = "restore-settings"
	// Apply changes the filesystem to Settings.
	Apply Verb = "apply"
	// Evict ends Session at Daemon.
	Evict Verb = "evict"
	// Replace changes the Deployment of Daemon to Image and to the desired pod, under the disruption lock, and starts it if it was
	// stopped. An empty image keeps the present one.
	Replace Verb = "replace"
	// Stop stops the Deployment of Daemon under the disruption lock, and Start starts it on what it was launched with.
	Stop  Verb = "stop"
	Start Verb = "start"
	// FailOver makes the manager Daemon a standby.
	FailOver Verb = "fail-over"
	// Require refuses OSDs that are older than Release.
	Require Verb = "require"
)

// Effect is one effect. Fields that its verb does not use are empty.
type Effect struct {
	Verb     Verb
	Daemon   ceph.Daemon
	Image    string
	Version  versions.Version
	Session  int64
	Release  string
	Settings Settings
	Upgrade  Upgrade
}

type action = machines.Action[Facts, Data, Effect]

var detect = &action{
	Name: "detect-version", Doc: "runs each image once to detect its version",
	Effects: func(f *Facts, _ Data) (out []Effect) {
		for _, i := range f.undetected() {
			out = append(out, Effect{Verb: Detect, Image: i.Name})
		}
		return out
	},
}

var record = &action{
	Name: "record-attempt", Doc: "stores the attempt with the health codes that are raised before it", Needs: []transitions.Need{NeedCluster, NeedMemory, NeedHealth}, ResolvedBy: NeedMemory,
	Effects: func(f *Facts, _ Data) []Effect {
		c, m, _, known := f.read()
		h, healthKnown := f.Health.Get()
		if !known || !healthKnown || f.Attempt == nil || f.recorded(&m) {
			return nil
		}
		return []Effect{{Verb: Record, Upgrade: f.upgrade(&c, &m, &h)}}
	},
}

// upgrade is what is recorded of the attempt. One that continues an earlier one toward the same version, after another edit of the spec or
// the loss of the status, keeps the health codes from before the first daemon changed: what has been raised since then was not present
// before the upgrade.
func (f *Facts) upgrade(c *Cluster, m *Memory, h *ceph.Health) Upgrade {
	d := f.decide(c, m)
	out := Upgrade{Attempt: f.Attempt.ID, Toward: d.To, Codes: health.Codes(*h), Named: f.Spec.ImageNames(), Back: d.Back, Builds: d.Builds}
	changed := slices.ContainsFunc(f.Daemons, func(d Daemon) bool { return d.Launched.Same(out.Toward) || c.runs(&d).Same(out.Toward) })
	if changed && !out.Toward.IsZero() && out.Toward.Same(m.Upgrade.Toward) {
		out.Codes = m.Upgrade.Codes
	}
	return out
}

// restore gives back what an earlier daemon needed. A Deployment that was just written may be the one from before in a cache, and the flag of
// the OSD that is about to end would be removed.
var restore = &action{
	Name: "restore", Doc: "removes flags, restores settings and starts standbys that no further step needs, and records the end of a downgrade, or of a change to another build", Needs: maps(), ResolvedBy: NeedCluster, Live: true,
	Effects: func(f *Facts, _ Data) []Effect {
		c, m, _, known := f.read()
		if !known {
			return nil
		}
		return f.leftovers(&c, &m, f.next(&c, &m))
	},
}

// leftovers returns the effects that restore what the turn does not need. None means that nothing is held. A downgrade that has ended is
// recorded so: daemons that are newer later were not asked to go back. So is the change to another build: an image that an administrator sets later
// is kept.
func (f *Facts) leftovers(c *Cluster, m *Memory, p plan) (out []Effect) {
	for _, id := range m.NoOut {
		name := ceph.Daemon{Type: ceph.TypeOSD, ID: id}
		if !f.returns(c, m, p, name) {
			out = append(out, Effect{Verb: UnsetNoOut, Daemon: name})
		}
	}
	reduced := f.reduced(c, m, p)
	for _, s := range m.Settings {
		if !slices.Contains(reduced, s.Filesystem) {
			out = append(out, Effect{Verb: RestoreSettings, Settings: s})
		}
	}
	for i := range f.Daemons {
		if d := &f.Daemons[i]; d.Stopped && d.Name.Type == ceph.TypeMDS && !slices.Contains(reduced, d.Filesystem) {
			out = append(out, Effect{Verb: Start, Daemon: d.Name})
		}
	}
	ended := m.Upgrade
	if p.turn == done {
		ended.Back = nil
	}
	if p.turn == done || p.turn == approve { // no daemon that has a target differs
		ended.Builds = nil
	}
	if len(ended.Back) < len(m.Upgrade.Back) || len(ended.Builds) < len(m.Upgrade.Builds) {
		out = append(out, Effect{Verb: Record, Upgrade: ended})
	}
	return out
}

// returns reports whether the OSD was replaced, and its process from before is yet to end, or that of its version to start. Without the status,
// this is all that says that it is being replaced. What the spec asks for meanwhile does not stop an end that is on its way.
func (f *Facts) returns(c *Cluster, m *Memory, p plan, name ceph.Daemon) bool {
	one, d := f.find(name), f.decide(c, m)
	if one == nil || p.turn != repair && p.turn != check {
		return false
	}
	return f.ends(c, one) || d.Outcome == decision.Permitted && f.starting(c, one, d.Targets)
}

// reduced returns the filesystems that stay reduced: that of the next step, also while an attempt is recorded again or a daemon starts, and
// those whose metadata servers have several versions, whatever comes next.
func (f *Facts) reduced(c *Cluster, m *Memory, p plan) []string {
	names, d := f.mixed(m), f.decide(c, m)
	if d.Outcome != decision.Permitted || p.turn != replace && p.turn != repair && p.turn != check {
		return names
	}
	step, left := order.Next(f.ordered(c, d.Targets), f.standbys(d.Targets))
	if !left || step.Kind == order.Wait {
		return names
	}
	if one := f.find(step.Daemon); one != nil {
		return append(names, one.Filesystem)
	}
	return append(names, step.Filesystem)
}

// mixed returns the filesystems that were reduced, or of which a standby was stopped, and whose metadata servers have several versions. A
// standby must not be started there on the older release after the active one was replaced, and there must not be several active ones.
func (f *Facts) mixed(m *Memory) (names []string) {
	for i := range f.Daemons {
		one := &f.Daemons[i]
		if one.Name.Type != ceph.TypeMDS || slices.Contains(names, one.Filesystem) {
			continue
		}
		reduced := slices.ContainsFunc(m.Settings, func(s Settings) bool { return s.Filesystem == one.Filesystem })
		if slices.ContainsFunc(f.Daemons, func(other Daemon) bool {
			return other.Filesystem == one.Filesystem && (reduced || other.Stopped) && !other.Launched.Same(one.Launched)
		}) {
			names = append(names, one.Filesystem)
		}
	}
	return names
}

func settings(f *ceph.Filesystem) Settings {
	return Settings{Filesystem: f.Name, MaxMDS: f.MaxMDS, StandbyReplay: f.StandbyReplay}
}

// prepare records before it changes, so that what it changed is known whatever ends in between.
var prepare = &action{
	Name: "prepare-daemon", Doc: "prevents that data moves while an OSD is away, and makes a filesystem ready for the change of its metadata servers",
	Needs: []transitions.Need{NeedCluster, NeedMemory, NeedOrphans}, ResolvedBy: NeedCluster, Acquires: []string{NoOut, FilesystemSettings},
	Precondition: all(current, healthy, stoppable), OnPreconditionFailed: SelectingDaemon,
	Effects: func(f *Facts, d Data) []Effect {
		c, m, _, known := f.read()
		switch {
		case !known:
			return nil
		case d.Step.Kind == order.Reduce:
			return reduce(&c, &m, d.Step.Filesystem)
		case d.component() == ceph.TypeOSD:
			return keepIn(&c, d.Step.Daemon)
		case d.component() == ceph.TypeMDS && f.leads(&c, d):
			return f.evictions(d)
		}
		return nil
	},
}

func reduce(c *Cluster, m *Memory, filesystem string) []Effect {
	now := c.filesystem(filesystem)
	if now == nil {
		return nil
	}
	if !slices.ContainsFunc(m.Settings, func(s Settings) bool { return s.Filesystem == filesystem }) {
		return []Effect{{Verb: RecordSettings, Settings: settings(now)}}
	}
	if least := (Settings{Filesystem: filesystem, MaxMDS: 1}); settings(now) != least {
		return []Effect{{Verb: Apply, Settings: least}}
	}
	return nil
}

func keepIn(c *Cluster, osd ceph.Daemon) []Effect {
	if o, _ := c.osd(osd); o.NoOut {
		return nil
	}
	return []Effect{{Verb: SetNoOut, Daemon: osd}}
}

func (f *Facts) evictions(d Data) (out []Effect) {
	orphans, _ := f.Orphans.Get()
	for _, session := range orphans {
		out = append(out, Effect{Verb: Evict, Daemon: d.Step.Daemon, Session: session})
	}
	return out
}

// change repeats every permission of the path to it on live facts: a daemon that was started once on a newer release cannot go back.
var change = &action{
	Name: "change-daemon", Doc: "replaces or stops the daemon, or makes the active manager a standby", Needs: maps(), ResolvedBy: NeedCluster, Acquires: []string{StoppedStandbys},
	Precondition: all(current, healthy, stoppable, prepared), OnPreconditionFailed: SelectingDaemon,
	Effects: func(f *Facts, d Data) []Effect {
		c, m, _, known := f.read()
		if !known {
			return nil
		}
		if d.Step.Kind == order.Failover {
			return []Effect{{Verb: FailOver, Daemon: d.Step.Daemon}}
		}
		if d.Step.Kind == order.Stop {
			return []Effect{{Verb: Stop, Daemon: d.Step.Daemon}}
		}
		target := f.decide(&c, &m).Targets[d.Step.Daemon.Type]
		return []Effect{{Verb: Replace, Daemon: d.Step.Daemon, Image: target.Name, Version: target.Version}}
	},
}

var requireRelease = &action{
	Name: "require-release", Doc: "requests Ceph to refuse OSDs of older releases", Needs: maps(), ResolvedBy: NeedCluster,
	Precondition: upgradedOSDs, OnPreconditionFailed: SelectingDaemon,
	Effects: func(f *Facts, _ Data) []Effect {
		c, m, _, known := f.read()
		if !known {
			return nil
		}
		d := f.decide(&c, &m)
		name, lacks := f.release(&c, d.Targets)
		if !lacks || d.Outcome != decision.Permitted {
			return nil
		}
		return []Effect{{Verb: Require, Release: name}}
	},
}
