package kafkaversion

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// snapshotGrace is added to the computed end of a wait for snapshots.
const snapshotGrace = 10 * time.Minute

// pendingSnapshot is a node whose log may still hold a level that the desired version does not support.
type pendingSnapshot struct {
	node    *roll.Node
	feature string
	level   int16
	// due is when its process will have taken a snapshot without that level; zero while it does not run, and for a process
	// that takes no snapshots.
	due time.Time
	// unready is true if the process runs and the kubelet does not report it ready: whether it has run since is not certain.
	unready bool
	// never is true if the process runs and takes no snapshots by time.
	never bool
}

// pendingSnapshots returns the nodes on which an older binary might not start, sorted by id. Only controllers die of what their
// log holds (verified on real controllers, see the behaviours in clients/kafka/kafkatest).
func (f *Facts) pendingSnapshots() []pendingSnapshot {
	if len(f.Disks) == 0 {
		return nil
	}
	d := f.direction()
	row, known := d.To.Row()
	if !known || d.Direction != decision.DirectionDown {
		return nil
	}
	var out []pendingSnapshot
	for i := range f.Disks {
		disk := &f.Disks[i]
		n := f.Roll.Node(disk.Node)
		if n == nil || !n.Outdated || !n.Controller {
			continue // a broker without the controller role logs an unknown level and continues
		}
		if p, holds := disk.pending(n, row); holds && (p.unready || p.due.IsZero() || !p.due.Before(f.Roll.Now)) {
			out = append(out, p)
		}
	}
	return out
}

// pending returns the feature with a level above the row's range that takes longest to leave the log.
func (d *Disk) pending(n *roll.Node, row *versions.Row) (pendingSnapshot, bool) {
	out := pendingSnapshot{node: n}
	var last time.Time // when the last of them was lowered
	for _, feature := range slices.Sorted(maps.Keys(d.Highest)) {
		levels, judged := row.Range(feature)
		if !judged || d.Highest[feature] <= levels.Max {
			continue
		}
		if lowered := d.LoweredAt[feature]; out.feature == "" || lowered.After(last) {
			out.feature, out.level, last = feature, d.Highest[feature], lowered
		}
	}
	if out.feature == "" {
		return out, false
	}
	running := n.Running && !n.StartedAt.IsZero()
	out.unready = running && !n.Ready
	switch {
	case running && d.Interval <= 0:
		out.never = n.Ready
	case running:
		out.due = SnapshotDue(n.StartedAt, last, d.Interval)
	}
	return out, true
}

// awaitedSnapshots returns the pending nodes without those whose process is shown to have run until its snapshot was due, although its
// pod is not ready. The verdict is Unknown if that cannot be answered of any that is left. It requires roll.ServingNeeds.
func (f *Facts) awaitedSnapshots() ([]pendingSnapshot, transitions.Verdict) {
	var out []pendingSnapshot
	verdict := transitions.Allow()
	for _, p := range f.pendingSnapshots() {
		taken := transitions.Deny("")
		if p.unready && f.overdue(&p) {
			taken = f.takesPart(p.node)
		}
		if taken.Answer == transitions.Yes {
			continue
		}
		out = append(out, p)
		if verdict.Answer != transitions.No {
			verdict = taken
		}
	}
	return out, verdict
}

// overdue reports whether the snapshot of a running process was due before now.
func (f *Facts) overdue(p *pendingSnapshot) bool { return !p.due.IsZero() && p.due.Before(f.Roll.Now) }

// takesPart reports whether Kafka shows that the process runs which the kubelet last reported: the node is in sync by evidence that is
// newer than the loss of its readiness, and its kubelet, which would report another process, is alive.
func (f *Facts) takesPart(n *roll.Node) transitions.Verdict {
	members, known := f.Roll.Members.Get()
	if !known {
		return f.Roll.Members.Gap()
	}
	m, asked := members[n.ID]
	switch serving := roll.Serving(&f.Roll, n); {
	case !asked, m.KubeletLost:
		return transitions.Deny("no live kubelet reports " + n.Name())
	case roll.Available(&f.Roll, n):
		return transitions.Allow()
	case serving.Answer == transitions.Unknown:
		return serving
	}
	return transitions.Deny(n.Name() + " is not in sync")
}

// SnapshotDue returns when a process that started at the given time will certainly have taken a snapshot of its metadata log after
// the level was lowered. A process counts the interval from when it has loaded the log, not from the start of its container, and
// takes the snapshot with the next record after that.
func SnapshotDue(started, lowered time.Time, interval time.Duration) time.Time {
	const loads = 30 * time.Second
	since := started.Add(loads)
	if lowered.After(since) {
		since = lowered
	}
	return since.Add(interval).Add(loads)
}

// stuck reports whether a node serves no client and cannot start without a change: its process crashes, or its pod cannot start for a while.
// Only such a node may test an older binary, which its log may kill: a missing pod returns soon unless the API server refuses it, a node that
// takes long to start may be recovering its logs, and a node that is merely not ready may serve.
func (f *Facts) stuck(n *roll.Node) transitions.Verdict {
	switch {
	case n.Trouble == nil || n.Ready || !n.Running && n.Trouble.Reason != roll.PodRefused:
		return transitions.Deny(n.Name() + " is ready, starting or being recreated")
	case !f.lasts(n):
		return transitions.Deny(n.Name() + " may start soon: " + n.Trouble.Message)
	}
	return roll.Lost(&f.Roll, n)
}

// troubleLasts is how long a pod that is refused, not scheduled or without an image may be about to start: each of these is also seen for a
// moment while a node or a registry is busy, or a webhook restarts.
const troubleLasts = 2 * time.Minute

// lasts reports whether the trouble of a node does not pass by itself: its process dies, or the pod has had it for a while.
func (f *Facts) lasts(n *roll.Node) bool {
	if n.Trouble.Reason == roll.ContainerDied || n.Trouble.Reason == roll.OutOfMemory {
		return true
	}
	since := n.UnreadySince
	if !n.Running {
		since = n.RefusedSince
	}
	return !since.IsZero() && !f.Roll.Now.Before(since.Add(troubleLasts))
}

// snapshotsDone returns when the last pending node will have taken its snapshot.
func (f *Facts) snapshotsDone() time.Time {
	var last time.Time
	for _, p := range f.pendingSnapshots() {
		if p.due.After(last) {
			last = p.due
		}
	}
	return last
}

// unprovenText describes the remedy for the first process whose snapshot is overdue and not certain, or what keeps a node from running
// that does not run; empty if there is none.
func (f *Facts) unprovenText(pending []pendingSnapshot) string {
	for i := range pending {
		switch p := &pending[i]; {
		case !p.node.Running && p.node.Trouble != nil:
			return fmt.Sprintf("; %s does not run: %s", p.node.Name(), p.node.Trouble.Message)
		case p.unready && (f.overdue(p) || p.due.IsZero()):
			return fmt.Sprintf("; %s is not ready, and Kafka does not show that its process runs: make it ready, or delete the pod if it does not recover", p.node.Name())
		}
	}
	return ""
}

// levelsRecorded keeps the level while a record does not say which levels the log of a controller holds. Once the level is lowered, nothing else
// shows that the log holds a higher one.
var levelsRecorded = guard{
	Name: "levels-recorded", Doc: "no lower level is due, or the record of every controller says which levels its log holds", Needs: features(),
	Expected: "a record of every controller that says which levels its log holds",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		lower := lowerDue.Verdict(f, m)
		switch {
		case lower.Answer == transitions.No, len(f.Unrecorded) == 0:
			return transitions.Allow()
		case lower.Answer == transitions.Unknown:
			return transitions.Verdict{Observed: lower.Observed, Pending: lower.Pending}
		}
		return transitions.Deny("not recorded: " + roll.Names(f.Unrecorded))
	},
}

// unrecordedText names the records without which no level is lowered; empty if there are none.
func (f *Facts) unrecordedText() string {
	if len(f.Unrecorded) == 0 {
		return ""
	}
	return "; the record of " + roll.Names(f.Unrecorded) + " does not say yet which levels the log holds. If this lasts, a write of the ConfigMap <pod>-record is refused: permit it"
}

// mayHold describes what the logs may still hold.
func mayHold(pending []pendingSnapshot) string {
	names := make([]string, len(pending))
	for i, p := range pending {
		names[i] = p.node.Name()
	}
	p := pending[0]
	return fmt.Sprintf("the log of %s may still hold %s %s", roll.Names(names), p.feature, versions.FeatureLevelName(p.feature, p.level))
}

// neverText describes both remedies for a process that takes no snapshots.
func (p pendingSnapshot) neverText(from string) string {
	return fmt.Sprintf("%s, and its process takes no periodic snapshots (metadata.log.max.snapshot.interval.ms=0). Set it above 0 "+
		"in spec.kafka.config: the nodes restart with it on %s, and the change continues. Or stay on %s: set spec.kafka.version to %q",
		mayHold([]pendingSnapshot{p}), from, from, from)
}
