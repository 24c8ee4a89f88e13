package kraftscaledown

import (
	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// down reports whether the broker is down, by two independent reports: its kubelet's, and Kafka's, which lists it as fenced or does not
// list it.
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

// another reports whether another broker that leaves answers, and can be drained or removed.
func (f *Facts) another(id int32) bool {
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.ID == id || n.Wanted || !n.Runs || f.down(n) {
			continue
		}
		if f.drains(n) && f.unassigned(n).Answer == transitions.No || n.Draining == 0 && f.empty(n).Answer == transitions.Yes {
			return true
		}
	}
	return false
}

// otherFirst ends the drain of a broker that is down if another one would wait for it: a move off a partition that has its only replica
// on the broker does not end before the broker runs again.
var otherFirst = guard{
	Name: "another-broker-first", Doc: "the selected broker is down, and another broker that leaves answers, and can be drained or removed",
	Needs: []transitions.Need{roll.NeedBrokers, roll.NeedPartitions, NeedLogDirs}, Expected: "a broker that answers",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		if n == nil || !n.Down {
			return transitions.Deny(f.name(m.Node) + " is not down")
		}
		if _, known := f.Brokers.Get(); !known {
			return f.Brokers.Gap()
		}
		return transitions.If(f.down(n) && f.another(n.ID), f.name(m.Node)+" is alive, or no other broker can be drained or removed first")
	},
}
