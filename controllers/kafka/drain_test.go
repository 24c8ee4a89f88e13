package kafka

import (
	"context"
	"testing"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown"
)

// Reassign moves nothing.
func (k *kafkaSide) Reassign(context.Context, []kafkaclient.Move) error { return k.refuseToMove }

// The warning stays while the request is repeated, and is written once.
func TestDrainShowsWhatKafkaRefuses(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.kafka.partitions = kafkaclient.Partitions{Total: 7, Replicas: map[int32]int{2: 7}}
	r.kafka.refuseToMove = &kafkaclient.Refused{Code: 44, Name: "POLICY_VIOLATION", Message: "not on a Friday"}
	r.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", observation.AnnotationDrain, "true")
	r.scale("broker", 2)
	r.leaving(reconciler, 12)
	if got := r.state(observation.LifecycleScaleDown); got != kraftscaledown.Draining {
		t.Fatalf("state %s, want Draining: %+v", got, r.lifecycle(observation.LifecycleScaleDown))
	}
	warning := func() string {
		for _, c := range r.cluster().Status.Conditions {
			if c.Reason == "DrainRequestRefused" {
				return c.Message
			}
		}
		return ""
	}
	if got, want := warning(), "Kafka refused to move replicas off "+podLeaving+": POLICY_VIOLATION: not on a Friday"; got != want {
		t.Errorf("warning %q, want %q", got, want)
	}
	r.written()
	r.leaving(reconciler, 4)
	if got := r.written(); len(got) > 0 {
		t.Errorf("the refused drain writes %v", got)
	}
	r.kafka.refuseToMove = nil
	r.leaving(reconciler, 3)
	if got := warning(); got != "" {
		t.Errorf("after a request was accepted the warning is %q", got)
	}
}
