package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
