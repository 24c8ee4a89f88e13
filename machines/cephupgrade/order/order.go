// Package order says which daemon of a Ceph cluster is replaced next, and what must happen before. The types are replaced in the order
// mon, mgr, osd, rgw, mds. Ceph itself does not enforce an order: newer managers and OSDs join older monitors.
package order

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
)

// Daemon is what the order depends on.
type Daemon struct {
	Name ceph.Daemon
	// Filesystem of a metadata server.
	Filesystem string
	// Outdated is true if the daemon differs from its target: its version or its pod.
	Outdated bool
	// Current is true if an outdated daemon runs the version of its target, and only its pod or its build differs.
	Current bool
	// Serving is true if the daemon has its role.
	Serving bool
	// Leading is true for the leader of the monitors, the active manager and an active metadata server.
	Leading bool
	// Following is true for a metadata server that follows an active one.
	Following bool
	// Stopped is true if the operator stopped it, so that it does not serve on purpose.
	Stopped bool
	// Broken is true if it never started on what it was launched with, and its target may run now: the types before it run the release. It is
	// also true if its pod does not start, and it is to run the same version in another one.
	Broken bool
	// Held is true if the end of its pod would lose its data. It is not replaced, nor are daemons of later types.
	Held bool
}

// Kind of a step.
type Kind string

const (
	// Replace replaces the daemon by its target, and starts it if it was stopped.
	Replace Kind = "Replace"
	// Failover makes an active manager a standby, so that one that is up to date takes over before it is replaced.
	Failover Kind = "Failover"
	// Reduce lowers a filesystem to one active metadata server, without followers.
	Reduce Kind = "Reduce"
	// Stop stops a standby of a filesystem until its active metadata server is replaced.
	Stop Kind = "Stop"
	// Wait: the daemons that are left are outdated, and are held or do not serve. The latter are repaired on what they run before they are
	// replaced.
	Wait Kind = "Wait"
)

// Step is the next step of an upgrade.
type Step struct {
	Kind   Kind
	Daemon ceph.Daemon
	// Filesystem of a Reduce.
	Filesystem string
	// Outage is true for a Replace that nothing can make up for: the monitors have no majority without it, or no other metadata server
	// can take over. Ceph is not asked whether the daemon may be stopped, since it would always deny it.
	Outage bool
}

// Next returns the next step, and false if no daemon is outdated. A type is finished before the next one begins. A daemon that never
// started comes first, whatever its type: no other one may be replaced while it is away. standbys says what the target release wants to
// happen to the standbys of a filesystem.
func Next(daemons []Daemon, standbys versions.Standbys) (Step, bool) {
	if at := slices.IndexFunc(daemons, func(d Daemon) bool { return d.Broken && d.Outdated }); at >= 0 {
		if daemons[at].Held {
			return Step{Kind: Wait, Daemon: daemons[at].Name}, true
		}
		return Step{Kind: Replace, Daemon: daemons[at].Name}, true
	}
	for _, t := range ceph.Types() {
		all := slices.DeleteFunc(slices.Clone(daemons), func(d Daemon) bool { return d.Name.Type != t })
		if !slices.ContainsFunc(all, func(d Daemon) bool { return d.Outdated }) {
			continue
		}
		slices.SortFunc(all, compare)
		var step Step
		switch t {
		case ceph.TypeMgr:
			step = manager(all)
		case ceph.TypeMDS:
			step = metadata(all, standbys)
		default:
			step = pick(all)
		}
		step.Outage = step.Kind == Replace && interrupts(all, step.Daemon)
		return step, true
	}
	return Step{}, false
}

// majority is the number of monitors from which one may be replaced without an outage.
const majority = 3

// interrupts reports whether clients are interrupted until the daemon is back.
func interrupts(all []Daemon, name ceph.Daemon) bool {
	at := slices.IndexFunc(all, func(d Daemon) bool { return d.Name == name })
	switch name.Type {
	case ceph.TypeMon:
		return len(all) < majority
	case ceph.TypeMDS:
		return all[at].Leading && !slices.ContainsFunc(all, func(d Daemon) bool {
			return d.Filesystem == all[at].Filesystem && d.Serving && d.Name != name
		})
	default:
		return false
	}
}

// compare orders daemons by filesystem, then those that lead last, since each change of a leader interrupts its clients, then by
// number or name.
func compare(a, b Daemon) int {
	numberA, errA := strconv.Atoi(a.Name.ID)
	numberB, errB := strconv.Atoi(b.Name.ID)
	byNumber := 0
	if errA == nil && errB == nil {
		byNumber = cmp.Compare(numberA, numberB)
	}
	return cmp.Or(cmp.Compare(a.Filesystem, b.Filesystem), rank(a)-rank(b), byNumber, cmp.Compare(a.Name.ID, b.Name.ID))
}

func rank(d Daemon) int {
	if d.Leading {
		return 1
	}
	return 0
}

// pick returns the first daemon that is outdated, serves and is not held. One that does not serve is repaired first: a new version on top of an
// unknown problem would make two of one, and only the present version can be gone back to.
func pick(daemons []Daemon) Step {
	wait := Step{Kind: Wait}
	for _, d := range daemons {
		switch {
		case !d.Outdated:
		case (d.Serving || d.Stopped) && !d.Held:
			return Step{Kind: Replace, Daemon: d.Name}
		case wait.Daemon.ID == "":
			wait.Daemon = d.Name
		}
	}
	return wait
}

// manager returns the standbys before the active manager, which is failed over first if another one can take over. A manager keeps nothing: one
// that does not serve, such as one that starts again after its failover, is replaced beside an active one that is up to date.
func manager(daemons []Daemon) Step {
	step := pick(daemons)
	if step.Kind != Replace {
		led := slices.ContainsFunc(daemons, func(d Daemon) bool { return d.Leading && d.Serving && !d.Outdated })
		if at := slices.IndexFunc(daemons, func(d Daemon) bool { return d.Outdated && !d.Held }); led && at >= 0 {
			return Step{Kind: Replace, Daemon: daemons[at].Name}
		}
		return step
	}
	active := slices.ContainsFunc(daemons, func(d Daemon) bool { return d.Name == step.Daemon && d.Leading })
	ready := slices.ContainsFunc(daemons, func(d Daemon) bool { return !d.Outdated && d.Serving && !d.Leading })
	if active && ready {
		step.Kind = Failover
	}
	return step
}

// metadata finishes one filesystem after the other: one active metadata server is left, its standbys are stopped or replaced, then it
// is replaced itself, and then what was stopped. If the active one runs the release already, what was stopped is started first: it may run beside
// it, and takes over while the pod of the active one is replaced.
func metadata(daemons []Daemon, standbys versions.Standbys) Step {
	first := daemons[slices.IndexFunc(daemons, func(d Daemon) bool { return d.Outdated })].Filesystem
	own := slices.DeleteFunc(slices.Clone(daemons), func(d Daemon) bool { return d.Filesystem != first })
	leading, following := 0, false
	for _, d := range own {
		if d.Leading {
			leading++
		}
		following = following || d.Following
	}
	if leading > 1 || following {
		return Step{Kind: Reduce, Filesystem: first}
	}
	active := slices.IndexFunc(own, func(d Daemon) bool { return d.Leading && d.Outdated })
	if active < 0 || own[active].Current || standbys != versions.StandbysStop {
		return pick(own)
	}
	if a := own[active]; !a.Serving && !a.Broken { // it recovers, or is repaired on its version: no standby may be missing then
		return Step{Kind: Wait, Daemon: a.Name}
	}
	for _, d := range own {
		if d.Outdated && d.Serving && !d.Leading {
			return Step{Kind: Stop, Daemon: d.Name}
		}
	}
	return Step{Kind: Replace, Daemon: own[active].Name}
}
