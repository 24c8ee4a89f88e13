package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// A component that is declared and can run keeps Ready false until it is available in its desired state.
func TestComponentsReady(t *testing.T) {
	const exporter = "my-cluster-kafka-exporter"
	r := single(t)
	k := r.cluster()
	k.Spec.EntityOperator = &kafkav1beta2.EntityOperatorSpec{TopicOperator: &kafkav1beta2.EntityOperatorComponent{}}
	k.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{}
	r.must(r.client.Update(t.Context(), k))
	message := func() string { return componentsReady(r.cluster(), r.snapshot(false)).Message }
	check := func(what, want string) {
		t.Helper()
		if diff := cmp.Diff(want, message()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("before the nodes run", "Deployment "+exporter+" does not exist yet: components are deployed once every node is ready")
	r.settle()
	check("deployed and not started", "Deployment "+exporter+" has 0 of 1 updated pods available")
	d := &appsv1.Deployment{}
	r.must(r.get(d, exporter))
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
	r.must(r.client.Status().Update(t.Context(), d))
	check("available: an entity operator without an image keeps nothing back", "")
	k = r.cluster()
	k.Spec.KafkaExporter.GroupRegex = "shop-.*"
	r.must(r.client.Update(t.Context(), k))
	check("declared anew, before anything was applied", "Deployment "+exporter+" is being updated")
	k.Spec.KafkaExporter.GroupRegex = "("
	r.must(r.client.Update(t.Context(), k))
	check("declared so that it cannot run", "spec.kafkaExporter.groupRegex is not a regular expression: error parsing regexp: missing closing ): `(`")
	r.settle()
	if err := r.get(d, exporter); err != nil {
		t.Errorf("the exporter that ran does not stay: %v", err)
	}
	k = r.cluster()
	k.Spec.KafkaExporter = nil
	r.must(r.client.Update(t.Context(), k))
	check("not declared any more", "")
}

func TestRollout(t *testing.T) {
	status := func(observed int64, replicas, updated, available int32, c ...appsv1.DeploymentCondition) appsv1.DeploymentStatus {
		return appsv1.DeploymentStatus{ObservedGeneration: observed, Replicas: replicas, UpdatedReplicas: updated, AvailableReplicas: available, Conditions: c}
	}
	for name, tc := range map[string]struct {
		status appsv1.DeploymentStatus
		want   string
	}{
		"done":                              {status: status(2, 1, 1, 1)},
		"not observed yet":                  {status: status(1, 1, 1, 1), want: "is being updated"},
		"no pod of the new template yet":    {status: status(2, 1, 0, 1), want: "has 0 of 1 updated pods available"},
		"the new pod is not available":      {status: status(2, 1, 1, 0), want: "has 0 of 1 updated pods available"},
		"a pod of the old template is left": {status: status(2, 2, 1, 2), want: "has 1 of 1 updated pods available"},
		"the rollout failed": {
			status: status(2, 1, 1, 0, appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Message: "timed out"}),
			want:   "has 0 of 1 updated pods available: timed out",
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(1))}}
			have := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: want.Spec, Status: tc.status}
			if diff := cmp.Diff(tc.want, message(rollout(want, have))); diff != "" {
				t.Errorf("rollout (-want +got):\n%s", diff)
			}
		})
	}
}
