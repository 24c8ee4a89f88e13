package kafka

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
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

// dies makes the pod of the broker that leaves exist without a process, as after the loss of its host's disk.
func (r *rig) dies() {
	r.t.Helper()
	pod := &corev1.Pod{}
	r.must(r.get(pod, podLeaving))
	at := metav1.NewTime(r.clock.Now())
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "kafka", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerError"}}}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at}}
	r.must(r.client.Status().Update(r.t.Context(), pod))
	r.kafka.silent = []int32{2}
}

// A broker dies while it is drained. Its drain goes on, and each way out of it ends.
func TestDrainOfABrokerThatDies(t *testing.T) {
	drained := func(r *rig) { r.kafka.partitions = kafkaclient.Partitions{} }
	for name, tc := range map[string]struct {
		then  func(*rig)
		leave bool
		want  string
	}{
		"its replicas are moved":         {then: drained, want: kraftscaledown.Steady, leave: true},
		"its replicas are not moved yet": {then: func(*rig) {}, want: kraftscaledown.Draining},
		"the drain is not requested any more": {then: func(r *rig) {
			r.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", observation.AnnotationDrain, "false")
		}, want: kraftscaledown.AwaitingEmpty},
		"it is desired again":          {then: func(r *rig) { r.scale("broker", 3) }, want: kraftscaledown.Steady},
		"the check is skipped as well": {then: func(r *rig) { r.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", facts.AnnotationSkipCheck, "true") }, want: kraftscaledown.Draining},
		"the check is skipped, and the drain is not requested any more": {then: func(r *rig) {
			r.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", observation.AnnotationDrain, "false")
			r.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", facts.AnnotationSkipCheck, "true")
		}, want: kraftscaledown.Steady, leave: true},
	} {
		t.Run(name, func(t *testing.T) {
			r, reconciler := settledOnThree(t)
			r.kafka.partitions = kafkaclient.Partitions{Total: 7, Replicas: map[int32]int{2: 7}}
			r.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", observation.AnnotationDrain, "true")
			r.scale("broker", 2)
			r.leaving(reconciler, 6)
			if got := r.state(observation.LifecycleScaleDown); got != kraftscaledown.Draining {
				t.Fatalf("state %s, want Draining", got)
			}
			r.dies()
			r.leaving(reconciler, 8)
			tc.then(r)
			r.leaving(reconciler, 20)
			if got := r.state(observation.LifecycleScaleDown); got != tc.want {
				t.Errorf("state %s, want %s: %+v", got, tc.want, r.lifecycle(observation.LifecycleScaleDown))
			}
			if got := !r.exists(&corev1.ConfigMap{}, record.Name(podLeaving)); got != tc.leave {
				t.Errorf("the broker was removed: %v, want %v", got, tc.leave)
			}
			if !tc.leave && tc.want != kraftscaledown.Draining && r.record(podLeaving).Draining != 0 {
				t.Errorf("the drain has not ended: %+v", r.record(podLeaving))
			}
		})
	}
}
