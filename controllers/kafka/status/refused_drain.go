package status

import (
	"strings"

	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

const reasonDrainRefused = "DrainRequestRefused"

// refusedDrain returns a warning with Kafka's words if the last request of a drain was refused; nil otherwise. Requests are repeated:
// until one of the same step is answered otherwise, it keeps the previous message.
func refusedDrain(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	step, state := drainStep(k, v)
	if step == "" {
		return nil
	}
	refused := "Kafka refused to " + step + ": "
	a := v.Answer(observation.LifecycleDrain)
	switch {
	case a.RequestID.State == state && a.State == external.Refused:
		return transitions.Problemf(reasonDrainRefused, "%s%s", refused, facts.AnswerText(a))
	case a.RequestID.State == state && a.State == external.Done:
		return nil
	}
	for _, c := range k.Status.Conditions {
		if c.Type == lifecycle.Warning && c.Reason == reasonDrainRefused && strings.HasPrefix(c.Message, refused) {
			return transitions.Problemf(reasonDrainRefused, "%s", c.Message)
		}
	}
	return nil
}

// drainStep returns what is requested of Kafka in the current state of a drain, and the state; empty without a drain.
func drainStep(k *kafkav1beta2.Kafka, v *observation.Snapshot) (step, state string) {
	for i := range k.Status.Lifecycles {
		e := &k.Status.Lifecycles[i]
		if e.Name != observation.LifecycleScaleDown {
			continue
		}
		data, err := roll.Decode(e.Data)
		n := v.Node(data.Node)
		if err != nil || n == nil {
			return "", ""
		}
		switch e.State {
		case kraftscaledown.Cordoning:
			return "cordon " + n.PodName, e.State
		case kraftscaledown.Draining:
			return "move replicas off " + n.PodName, e.State
		case kraftscaledown.EndingDrain:
			return "cancel the moves off " + n.PodName + ", or to lift its cordon", e.State
		}
	}
	return "", ""
}
