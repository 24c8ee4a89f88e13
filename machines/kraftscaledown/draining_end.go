package kraftscaledown

import (
	"fmt"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

var drainEnded = guard{
	Name: "drain-ended", Doc: "no move takes replicas off the selected broker, it is not cordoned or cannot be asked, and its record does not say any more that it is drained",
	Needs: ending(), Expected: "the moves to be cancelled and the cordon to be lifted",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		if n == nil || n.Draining == 0 {
			return transitions.Allow()
		}
		switch v := f.drainLeft(n); v.Answer {
		case transitions.Yes:
			return transitions.Deny("the record of " + n.Pod + " still says that it is drained")
		default:
			return v
		}
	},
}

// drainLeft says yes once only the record is left of a drain. The cordon of a broker that is down is left: only the broker itself can be
// asked to lift it.
func (f *Facts) drainLeft(n *Node) transitions.Verdict {
	moves, known := f.Moves.Get()
	switch pending := len(f.cancellations(n.ID)); {
	case !known:
		return f.Moves.Gap()
	case pending > 0:
		return transitions.Deny(fmt.Sprintf("%d moves are being cancelled", pending))
	case moves.Moving.Total > len(moves.Moving.First):
		return transitions.Verdict{Observed: fmt.Sprintf("only %d of %d reassignments are listed", len(moves.Moving.First), moves.Moving.Total)}
	}
	v := f.cordoned(n)
	switch v.Answer {
	case transitions.Yes:
		return transitions.Deny(n.Pod + " is cordoned")
	case transitions.No:
		return transitions.Allow()
	case transitions.Unknown:
	}
	if f.cordonless() || f.down(n) {
		return transitions.Allow()
	}
	return v
}

// ending are the facts that show what is left of a drain.
func ending() []transitions.Need {
	return []transitions.Need{NeedMoves, NeedCordons, kafkaversion.NeedFeatures, roll.NeedBrokers}
}

// endDrain changes the record last, so that the drain is ended again after a crash.
var endDrain = &machines.Action[Facts, roll.Data, Effect]{
	Name: "end-drain", Doc: "cancels the moves off the broker, lifts its cordon, and then deletes the drain from the record",
	Needs: ending(), ResolvedBy: NeedMoves,
	Effects: func(f *Facts, m roll.Data) []Effect {
		n := f.node(m.Node)
		if n == nil || n.Draining == 0 || !n.Runs {
			return nil
		}
		left := f.drainLeft(n)
		if moves := f.cancellations(n.ID); len(moves) > 0 {
			return []Effect{{Move: moves}}
		}
		switch left.Answer {
		case transitions.Yes:
			return []Effect{{EndDrain: &n.ID}}
		case transitions.No:
			return []Effect{{Cordon: &kafka.Cordon{Broker: n.ID}}}
		case transitions.Unknown:
		}
		return nil
	},
}
