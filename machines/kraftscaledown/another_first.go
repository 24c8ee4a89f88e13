package kraftscaledown

import (
	"slices"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// down reports whether the broker is down, by two independent reports: that of its kubelet, or of the API server that refuses its pod, and
// Kafka's, which lists it as fenced or does not list it.
func (f *Facts) down(n *Node) bool {
	brokers, known := f.Brokers.Get()
	b, found := brokers.Find(n.ID)
	return n.Down && known && (!found || b.Fencing == kafka.Fenced)
}

// neverStarted reports whether no broker was ever started on the storage of the node: its record says so, and Kafka, which lists fenced
// brokers, does not list it. A process that starts later is found by the checks after the stop.
func (f *Facts) neverStarted(n *Node) bool {
	brokers, known := f.Brokers.Get()
	_, found := brokers.Find(n.ID)
	return n.Unused && known && brokers.FencingReported && !found
}

// faulty reports whether the broker answers that it cannot read one of its log directories: a replica in it may be the only one of its
// partition.
func (f *Facts) faulty(n *Node) bool {
	all, _ := f.LogDirs.Get()
	return slices.ContainsFunc(all[n.ID].Dirs, func(d kafka.LogDir) bool { return d.Error != nil })
}

// hindered reports whether the drain of the broker may never end: it is down, or a directory of it cannot be read.
func (f *Facts) hindered(n *Node) bool { return f.down(n) || f.faulty(n) }

// another reports whether another broker that leaves answers, and can be drained, of which nothing hinders the drain, or removed.
func (f *Facts) another(id int32) bool {
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.ID == id || n.Wanted || !n.Runs || f.down(n) {
			continue
		}
		if f.drains(n) && !f.faulty(n) && f.unassigned(n).Answer == transitions.No || n.Draining == 0 && f.empty(n).Answer == transitions.Yes {
			return true
		}
	}
	return false
}

// otherFirst ends the drain of a broker that is down, or has a directory that cannot be read, if another one would wait for it: a move off
// a partition that has its only replica there does not end before it can be read again.
var otherFirst = guard{
	Name: "another-broker-first", Doc: "the selected broker is down or cannot read a log directory, and another broker that leaves can be drained or removed",
	Needs: []transitions.Need{roll.NeedBrokers, roll.NeedPartitions, NeedLogDirs}, Expected: "a broker that answers and reads its directories",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		if n == nil {
			return transitions.Deny("the node does not exist")
		}
		if _, known := f.Brokers.Get(); n.Down && !known {
			return f.Brokers.Gap()
		}
		if _, known := f.LogDirs.Get(); !known && !f.down(n) {
			return f.LogDirs.Gap()
		}
		return transitions.If(f.hindered(n) && f.another(n.ID), "nothing hinders the drain of "+f.name(m.Node)+", or no other broker can be drained or removed first")
	},
}

// othersWait reports whether something can be done about another node with a process, or about one that is desired again.
func (f *Facts) othersWait(id int32) bool {
	return f.another(id) || slices.ContainsFunc(f.Nodes, func(n Node) bool { return n.ID != id && (n.Wanted || n.Runs && n.Draining > 0) })
}

// aliveElsewhere ends the wait for the session of a broker that a process outside of this cluster keeps alive. It waits for two session
// timeouts: the controllers fence a silent broker some time after the first.
var aliveElsewhere = guard{
	Name: "alive-elsewhere", Doc: "Kafka reports the selected broker as alive for two session timeouts after its process was gone, and another broker can be drained, removed or returned",
	Needs: evidence(), Expected: "the process that runs the broker outside of this cluster to be stopped",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		switch _, known := f.Brokers.Get(); {
		case !known:
			return f.Brokers.Gap()
		case !f.alive(m.Node):
			return transitions.Deny(f.name(m.Node) + " is not alive")
		case f.Brokers.At().Before(f.EnteredAt.Add(2 * f.SessionTimeout)):
			return transitions.Deny("the session of " + f.name(m.Node) + " may not have ended yet")
		}
		ids, _ := f.gone()
		waits := len(ids) > 0 && ids[0] != m.Node && !f.alive(ids[0])
		return transitions.If(waits || f.othersWait(m.Node), "no other broker can be drained, removed or returned first")
	},
}
