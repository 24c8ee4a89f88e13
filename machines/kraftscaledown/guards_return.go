package kraftscaledown

import (
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// stoppedInError chooses a node that was stopped and must run again. pickStoppedInError evaluates it.
var stoppedInError = guard{
	Name: "stopped-in-error", Doc: "a stopped node is desired again, or still runs and holds replicas", Needs: evidence(), Expected: "a stopped node that is to run again",
}

func pickStoppedInError(f *Facts, _ roll.Data) (transitions.Verdict, roll.Data) {
	verdict := transitions.Deny("no stopped node is to run again")
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch {
		case !n.Stopped || !n.Wanted && !n.Runs:
			continue
		case n.Wanted:
			return transitions.Allow(), roll.Data{Node: n.ID}
		}
		switch v := f.empty(n); v.Answer {
		case transitions.No:
			return transitions.Allow(), roll.Data{Node: n.ID}
		case transitions.Unknown:
			verdict = v
		case transitions.Yes:
		}
	}
	return verdict, roll.NoNode()
}

var running = guard{
	Name: "node-kept", Doc: "the record of the selected node permits it to run as a broker, or the node does not exist", Expected: "the record of the node to permit it to run",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		return transitions.If(n == nil || !n.Stopped, f.name(m.Node)+" is stopped by its record")
	},
}

// returnable repeats the reason of a return on live facts: a cache may show a pool from before the node left, or a replica that was moved.
var returnable = guard{
	Name: "to-run-again", Doc: "the selected node is desired, or holds a replica", Needs: evidence(), Expected: "a node that is desired, or that holds a replica",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		switch {
		case n == nil || !f.leaves(m.Node):
			return transitions.Allow()
		case f.empty(n).Answer == transitions.No:
			return transitions.Allow()
		}
		if left := f.unassigned(n); left.Answer != transitions.Yes {
			return transitions.Verdict{Answer: left.Answer.Not(), Observed: left.Observed}
		}
		return transitions.Deny(n.Pod + " leaves, and no partition has a replica on it")
	},
}

// stoppedHere limits a return to nodes that this lifecycle has stopped. No other node can be brought back.
var stoppedHere = guard{
	Name: "stopped-by-record", Doc: "the record of the selected node says that it may not run", Expected: "a node that was stopped",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		return transitions.If(n != nil && n.Stopped, f.name(m.Node)+" was not stopped")
	},
}
