package integration

import (
	"slices"

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

// Matters reports whether a law is tested in a state. Each state costs a cluster of three nodes.
func (removals) Matters(law, state string) bool {
	const (
		steady, refusing, blocked = kraftscaledown.Steady, kraftscaledown.Refusing, kraftscaledown.AwaitingEmpty
		cordoning, draining       = kraftscaledown.Cordoning, kraftscaledown.Draining
		ending, stopping          = kraftscaledown.EndingDrain, kraftscaledown.StoppingNode
		gone, unregistering       = kraftscaledown.AwaitingGone, kraftscaledown.Unregistering
		releasing, returning      = kraftscaledown.Releasing, kraftscaledown.Returning
	)
	acting := []string{cordoning, draining, ending, stopping, unregistering, releasing, returning}
	only := map[string][]string{
		lawPause: {steady, refusing, blocked, draining, unregistering},
		// Whatever the state, another is inferred from the records and the registrations.
		lawUnknown: {steady, blocked, draining, unregistering, releasing},
		// The others have no data, or are left like one of these.
		lawData: {draining, stopping, gone, unregistering, releasing},
		// An effect follows when nothing hinders it.
		lawStale: acting, lawChildren: acting, lawFailOver: acting,
		lawLoss: {blocked, draining, stopping, gone, unregistering, releasing, returning},
	}
	if where, some := only[law]; some {
		return slices.Contains(where, state)
	}
	// A request that is not answered ends after its time limit, which is no silence.
	return law != lawSilence || state != unregistering
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
