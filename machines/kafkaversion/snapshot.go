package kafkaversion

import (
	"fmt"
	"time"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines/roll"
)

// snapshotGrace is added to the computed end of a wait for snapshots.
const snapshotGrace = 10 * time.Minute

// pendingSnapshot is a node whose log may still hold a level that the wanted version does not know.
type pendingSnapshot struct {
	node    *roll.Node
	feature string
	level   int16
	// due is when its process will have taken a snapshot without that level; zero while it is not running in sync.
	due time.Time
	// never says that the process takes no snapshots by time.
	never bool
}

// pendingSnapshots lists the nodes that an older binary might not survive on, in order of id.
func (f *Facts) pendingSnapshots() []pendingSnapshot {
	d := f.direction()
	row, known := d.To.Row()
	if !known || d.Direction != DirectionDown {
		return nil
	}
	var out []pendingSnapshot
	for i := range f.Disks {
		disk := &f.Disks[i]
		n := f.Roll.Node(disk.Node)
		if n == nil || !n.Outdated {
			continue
		}
		if p, holds := disk.pending(n, row); holds && !(p.due.Before(f.Roll.Now) && !p.due.IsZero()) {
			out = append(out, p)
		}
	}
	return out
}

// pending finds the feature whose highest level the row does not know and that takes longest to be gone.
func (d *Disk) pending(n *roll.Node, row *versions.Row) (pendingSnapshot, bool) {
	out := pendingSnapshot{node: n}
	holds := false
	for feature, highest := range d.Highest {
		levels, judged := row.Range(feature)
		if !judged || highest <= levels.Max {
			continue
		}
		since := n.StartedAt
		if lowered := d.LoweredAt[feature]; lowered.After(since) {
			since = lowered
		}
		due := since.Add(d.Interval)
		if n.StartedAt.IsZero() || !n.Ready {
			due = time.Time{}
		}
		if !holds || due.IsZero() || due.After(out.due) || due.Equal(out.due) && feature < out.feature {
			out.feature, out.level, out.due, out.never = feature, highest, due, d.Interval == 0
		}
		holds = true
	}
	return out, holds
}

// snapshotsDone is when the last node in sync will have taken its snapshot.
func (f *Facts) snapshotsDone() time.Time {
	var last time.Time
	for _, p := range f.pendingSnapshots() {
		if p.due.After(last) {
			last = p.due
		}
	}
	return last
}

func (p pendingSnapshot) String() string {
	return fmt.Sprintf("%s (its log may still hold %s)", p.node.Name(), versions.FeatureLevelName(p.feature, p.level))
}
