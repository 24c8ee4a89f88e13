package kraftscaledown

import (
	"slices"

	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

type guard = transitions.Guard[Facts, roll.Data]

func registrations() []transitions.Need { return []transitions.Need{roll.NeedBrokers} }

// evidence are the facts that show whether a broker is empty.
func evidence() []transitions.Need {
	return []transitions.Need{roll.NeedPartitions, NeedLogDirs, roll.NeedBrokers}
}

// anyLeaving is satisfied by a node that leaves, and by a registration that is left from the past.
var anyLeaving = guard{
	Name: "broker-leaving", Doc: "a node is not desired as a broker, was stopped or drained and is desired again, or only its registration is left", Needs: registrations(),
	Expected: "a broker to remove",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		if len(f.Nodes) > 0 {
			return transitions.Allow()
		}
		brokers, known := f.Brokers.Get()
		if !known {
			return f.Brokers.Gap()
		}
		return transitions.If(len(f.past(brokers)) > 0, "every registered broker is desired")
	},
}

var permitted = guard{
	Name: "removal-permitted", Doc: "no node that is not desired is a controller of a static quorum", Expected: "pools with the controllers that the cluster was started with",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict { return f.Refusal.Verdict() },
}

// goneAlready chooses a broker without a process. pickGone evaluates it.
var goneAlready = guard{
	Name: "process-gone-already", Doc: "no process runs of a broker that leaves, and the broker was stopped or holds no replica",
	Needs: evidence(), Expected: "a broker without a process",
}

// pickGone chooses a broker that Kafka reports as alive only if no other broker can be drained or removed: its process is not one of this
// cluster's pods, and may never end.
func pickGone(f *Facts, _ roll.Data) (transitions.Verdict, roll.Data) {
	ids, otherwise := f.gone()
	switch {
	case len(ids) == 0:
		return otherwise, roll.NoNode()
	case f.alive(ids[0]) && f.othersWait(ids[0]):
		return transitions.Deny("Kafka reports " + f.name(ids[0]) + " as alive, and another broker does not wait for its end"), roll.NoNode()
	}
	return transitions.Allow(), roll.Data{Node: ids[0]}
}

// gone returns the brokers that leave and have no process, in the order of removal and those that Kafka reports as alive last, and the
// verdict if there is none.
func (f *Facts) gone() (ids []int32, otherwise transitions.Verdict) {
	otherwise = transitions.Deny("every broker that leaves has a process, or holds replicas")
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Wanted || n.Runs {
			continue
		}
		v := transitions.Allow()
		if !n.Stopped {
			v = f.unassigned(n)
		}
		switch v.Answer {
		case transitions.Yes:
			ids = append(ids, n.ID)
		case transitions.Unknown:
			otherwise = v
		case transitions.No:
		}
	}
	brokers, known := f.Brokers.Get()
	if !known {
		return ids, f.Brokers.Gap()
	}
	ids = append(ids, f.past(brokers)...)
	slices.SortStableFunc(ids, func(a, b int32) int {
		switch x, y := f.alive(a), f.alive(b); {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	})
	return ids, otherwise
}

// anyEmpty chooses the first broker, in the order of removal, that is known to be empty. pickEmpty evaluates it.
var anyEmpty = guard{
	Name: "broker-empty", Doc: "a broker that leaves holds no replica, by the metadata of all partitions and by its own log directories, except those offline by an error of their disk, unless it is down and was drained or never started", Needs: append(evidence(), NeedMoves),
	Expected: "a broker that leaves to hold no replica; move its replicas, or set detent.dev/drain or strimzi.io/skip-broker-scaledown-check",
}

func pickEmpty(f *Facts, _ roll.Data) (transitions.Verdict, roll.Data) {
	verdict, judged := transitions.Deny("no broker leaves that has a process"), false
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if stopped := n.Stopped && !n.Runs; n.Wanted || n.Draining > 0 || stopped { // pickGone chooses those that are stopped
			continue
		}
		v := f.empty(n)
		switch {
		case v.Answer == transitions.Yes && n.Runs:
			return v, roll.Data{Node: n.ID}
		case v.Answer == transitions.Yes:
		case !judged || verdict.Answer == transitions.No && v.Answer == transitions.Unknown:
			verdict, judged = v, true
		}
	}
	if verdict.Answer == transitions.No {
		verdict.Observed += beside(f.drainRefused())
	}
	return verdict, roll.NoNode()
}

// leaving concerns the selected broker.
var leaving = guard{
	Name: "still-leaving", Doc: "the selected broker is not desired", Expected: "the selected broker not to be desired",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		return transitions.If(f.leaves(m.Node), f.name(m.Node)+" is desired again")
	},
}

var selectedEmpty = guard{
	Name: "selected-broker-empty", Doc: "the selected broker holds no replica, by the metadata of all partitions and by its own log directories, except those offline by an error of their disk, unless it is down and was drained or never started", Needs: evidence(),
	Expected: "the selected broker to hold no replica",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		if n == nil {
			return transitions.Deny("the node does not exist")
		}
		return f.empty(n)
	},
}

var processGone = guard{
	Name: "process-gone", Doc: "no pod of the selected broker exists, or it runs without the broker role", Expected: "the pod of the broker to be gone, or to run without the broker role",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		switch {
		case n == nil || !n.Runs:
			return transitions.Allow()
		case n.Kept != nil:
			return transitions.Deny(n.Pod + " still exists: " + n.Kept.Message)
		}
		return transitions.Deny(n.Pod + " still exists")
	},
}

// nothingLeft is asked after the stop: a replica may have been created on the broker after it was found empty. The disks of a node
// without a process cannot be read. A registration without a node cannot hold a replica that its node could bring back.
var nothingLeft = guard{
	Name: "no-replica-left", Doc: "no partition has a replica on the selected broker, as read after it was stopped", Needs: []transitions.Need{roll.NeedPartitions},
	Expected: "no partition to have a replica on the stopped broker",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		if n == nil || f.skips() {
			return transitions.Allow()
		}
		v := f.unassigned(n)
		if v.Answer == transitions.Yes && f.Partitions.At().Before(f.EnteredAt) {
			return transitions.Verdict{Observed: "the partitions have not been read since " + n.Pod + " was stopped"}
		}
		return v
	},
}

var released = guard{
	Name: "broker-released", Doc: "nothing of the selected broker is left", Expected: "the record of the broker to be deleted",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		return transitions.If(n == nil, f.name(m.Node)+" is still recorded")
	},
}
