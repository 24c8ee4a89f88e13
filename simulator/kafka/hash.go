package kafka

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	client "github.com/detent-dev/detent/clients/kafka"
)

// AppendCanonical appends everything that determines the further behaviour of the cluster,
// and nothing else: two clusters with equal bytes answer and change in the same way. Times
// are written as the time remaining, rounded up to a multiple of grain (in milliseconds; 1
// or less keeps them exact); log positions as their order; epochs as whether a process
// still holds its registration. Clusters that reached the same state at different times, or
// after different numbers of restarts, are therefore equal.
//
// It omits ID, Settings, Binaries and LeaderEpoch: compare only clusters for which they are
// the same.
func (c *Cluster) AppendCanonical(dst []byte, grain int64) []byte {
	w := canonical{buf: dst, now: c.Now, grain: max(grain, 1)}
	w.num(int64(c.Leader))
	w.until(c.ElectionAt)
	w.flag(c.LeaderEpoch > 0)
	w.flag(c.Unreachable)
	w.levels(c.Finalized)
	w.num(int64(len(c.Nodes)))
	for i := range c.Nodes {
		c.appendNode(&w, &c.Nodes[i])
	}
	w.registrations(c.Registrations)
	w.num(int64(len(c.Controllers)))
	for _, r := range c.Controllers {
		w.num(int64(r.ID), int64(r.Binary))
	}
	w.ids(c.Voters)
	w.partitions(c.Partitions)
	w.ids(c.Cordoned)
	w.num(int64(len(c.Dynamic)))
	for _, v := range c.Dynamic {
		w.num(int64(v.Broker))
		w.text(v.Name)
		w.text(v.Value)
	}
	c.appendScript(&w)
	return w.buf
}

// Hash returns a number that is the same for equal clusters, in every process and on every
// machine.
func (c *Cluster) Hash() uint64 {
	var room [512]byte
	return xxhash.Sum64(c.AppendCanonical(room[:0], 1))
}

func (c *Cluster) appendNode(w *canonical, n *Node) {
	w.num(int64(n.ID), int64(n.Binary), int64(n.Process), n.SnapshotInterval, int64(n.Formatted))
	w.num(int64(len(n.Static)))
	for _, v := range n.Static {
		w.text(v.Name)
		w.text(v.Value)
	}
	w.flag(n.Broker)
	w.flag(n.Controller)
	w.flag(n.Unreachable)
	w.flag(n.Scripted)
	w.until(n.UpAt)
	w.until(n.SyncedAt)
	w.until(n.SnapshotAt)
	w.levels(n.Replays)
	r := c.registrationIndex(n.ID)
	w.flag(n.Epoch != 0 && r >= 0 && c.Registrations[r].Epoch == n.Epoch)
	w.num(c.logRank(n))
	w.flag(c.behind(n))
	if n.Process == Dead {
		w.text(n.LastWords)
	}
	w.flag(n.CutOff)
	w.flag(n.Known != nil)
	if n.Known != nil {
		w.registrations(n.Known.Registrations)
		w.partitions(n.Known.Partitions)
		w.levels(n.Known.Finalized)
		w.flag(c.imageOffset(n) < c.highWatermark()-1)
	}
}

// logRank is the number of controllers with a shorter metadata log, plus 1; 0 for an empty
// log and for a node that is not a controller.
func (c *Cluster) logRank(n *Node) int64 {
	mine := c.caughtUpTo(n)
	if !n.Controller || mine == 0 {
		return 0
	}
	rank := int64(1)
	for i := range c.Nodes {
		if c.Nodes[i].Controller && c.caughtUpTo(&c.Nodes[i]) < mine {
			rank++
		}
	}
	return rank
}

// behind reports whether the node last caught up with the leader longer ago than the
// quorum's fetch timeout, so that it does not count as caught up.
func (c *Cluster) behind(n *Node) bool {
	return n.Controller && c.Now-c.caughtUpTo(n) >= client.DefaultQuorumFetchTimeout.Milliseconds()
}

func (c *Cluster) appendScript(w *canonical) {
	w.num(int64(len(c.Lagging)))
	for _, l := range c.Lagging {
		w.text(l.Topic)
		w.num(int64(l.Index), int64(l.Broker))
	}
	w.num(int64(len(c.VoterLag)))
	for _, v := range c.VoterLag {
		w.num(int64(v.ID), v.Lag)
	}
	w.num(int64(len(c.Faults)))
	for _, f := range c.Faults {
		w.text(string(f.Request))
		w.num(int64(f.Kind), int64(f.Target), int64(f.Code), int64(f.Times))
		w.text(f.Message)
	}
}

// canonical encodes numbers as varints, so that most of them take one byte.
type canonical struct {
	buf   []byte
	now   int64
	grain int64
}

func (w *canonical) num(values ...int64) {
	for _, v := range values {
		w.buf = binary.AppendVarint(w.buf, v)
	}
}

func (w *canonical) flag(v bool) {
	if v {
		w.buf = append(w.buf, 1)
		return
	}
	w.buf = append(w.buf, 0)
}

// until encodes a time: 0 for never, 1 for a time in the past, otherwise the time
// remaining.
func (w *canonical) until(at int64) {
	switch {
	case at == 0:
		w.num(0)
	case at <= w.now:
		w.num(1)
	default:
		w.num(1 + (at-w.now+w.grain-1)/w.grain)
	}
}

func (w *canonical) text(s string) {
	w.num(int64(len(s)))
	w.buf = append(w.buf, s...)
}

func (w *canonical) ids(ids []int32) {
	w.num(int64(len(ids)))
	for _, id := range ids {
		w.num(int64(id))
	}
}

func (w *canonical) levels(levels []FeatureLevel) {
	w.num(int64(len(levels)))
	for _, l := range levels {
		w.text(l.Name)
		w.num(int64(l.Level))
	}
}

func (w *canonical) registrations(registrations []Registration) {
	w.num(int64(len(registrations)))
	for _, r := range registrations {
		w.num(int64(r.ID), int64(r.Binary))
		w.flag(r.Fenced)
		w.until(r.SessionEnds)
	}
}

func (w *canonical) partitions(partitions []Partition) {
	w.num(int64(len(partitions)))
	for i := range partitions {
		w.partition(&partitions[i])
	}
}

func (w *canonical) partition(p *Partition) {
	w.text(p.Topic)
	w.num(int64(p.Index), int64(p.MinISR), int64(p.Leader), int64(p.InSync))
	w.ids(p.Replicas)
	w.ids(p.Adding)
	w.ids(p.Removing)
	w.until(p.CopiedAt)
}
