package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
)

func TestRefusedDrain(t *testing.T) {
	answer := func(state string, a external.Answer) external.Answer {
		a.RequestID = machines.RequestID{State: state}
		return a
	}
	refusal := external.Answer{State: external.Refused, Name: "POLICY_VIOLATION", Text: "not on a Friday"}
	const moving, cordoning = "Kafka refused to move replicas off c-b-3: POLICY_VIOLATION: not on a Friday", "Kafka refused to cordon c-b-3: POLICY_VIOLATION: not on a Friday"
	for name, tc := range map[string]struct {
		state, before string
		answer        external.Answer
		want          string
	}{
		"a move is refused":                              {state: kraftscaledown.Draining, answer: answer(kraftscaledown.Draining, refusal), want: moving},
		"a cordon is refused":                            {state: kraftscaledown.Cordoning, answer: answer(kraftscaledown.Cordoning, refusal), want: cordoning},
		"a request is repeated":                          {state: kraftscaledown.Draining, before: moving, answer: answer(kraftscaledown.Draining, external.Answer{State: external.Pending}), want: moving},
		"another process leads, and has sent no request": {state: kraftscaledown.Draining, before: moving, want: moving},
		"the repeated request is accepted":               {state: kraftscaledown.Draining, before: moving, answer: answer(kraftscaledown.Draining, external.Answer{State: external.Done})},
		"the cordon was set at last":                     {state: kraftscaledown.Draining, before: cordoning, answer: answer(kraftscaledown.Cordoning, refusal)},
		"the drain is over":                              {state: kraftscaledown.AwaitingEmpty, before: moving},
		"nothing was refused":                            {state: kraftscaledown.Draining},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			k.Status.Lifecycles = []lifecyclev1.Lifecycle{{Name: observation.LifecycleScaleDown, State: tc.state, Data: map[string]string{"node": "3"}}}
			if tc.before != "" {
				k.Status.Conditions = []metav1.Condition{{Type: lifecycle.Warning, Reason: reasonDrainRefused, Message: tc.before}}
			}
			v := &observation.Snapshot{
				Nodes:   []observation.Node{{ID: 3, PodName: "c-b-3"}},
				Answers: map[string]external.Answer{observation.LifecycleDrain: tc.answer},
			}
			if diff := cmp.Diff(tc.want, message(refusedDrain(k, v))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
