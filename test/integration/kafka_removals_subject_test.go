package integration

import (
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kraftscaledown"
)

// removals are the subject of Kafka clusters from which brokers are removed.
type removals struct{ clusters }

func (removals) Name() string { return "kafka-removals" }

func (removals) Graphs() map[string]machines.Graph {
	return map[string]machines.Graph{observation.LifecycleScaleDown: kafkaGraphs()[observation.LifecycleScaleDown]}
}

// Reservations are the laws that are not tested here, each with the reason.
func (removals) Reservations() map[string]string {
	return map[string]string{
		lawMany:  "no broker leaves while clusters come to rest",
		lawCrash: byCampaign,
	}
}

// Matters reports whether a law is tested in a state.
func (removals) Matters(law, state string) bool {
	// A request that is not answered ends after its time limit, which is no silence.
	return law != lawSilence || state != kraftscaledown.Unregistering
}

func (removals) World() World { return shrinking{newEstate()} }

// Visits are visits to every state. Inferring is never entered, because the state can always be inferred.
func (removals) Visits() []Visit {
	var out []Visit
	for _, state := range []string{
		kraftscaledown.Steady, kraftscaledown.Refusing, kraftscaledown.AwaitingEmpty, kraftscaledown.Cordoning, kraftscaledown.Draining,
		kraftscaledown.EndingDrain, kraftscaledown.DrainRefused, kraftscaledown.StoppingNode, kraftscaledown.AwaitingGone,
		kraftscaledown.AwaitingSession, kraftscaledown.Unregistering, kraftscaledown.UnregistrationRefused, kraftscaledown.AwaitingSettled,
		kraftscaledown.Releasing, kraftscaledown.Returning,
	} {
		out = append(out, Visit{Lifecycle: observation.LifecycleScaleDown, State: state})
	}
	return out
}
