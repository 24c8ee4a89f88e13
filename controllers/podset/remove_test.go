package podset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The pod of a stopped node is evicted, unless it is not ready and its budget would refuse that for ever.
func TestReconcileRemovesThePodOfAStoppedNode(t *testing.T) {
	budget := func(healthy, desired int32) client.Object {
		return &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: "c-kafka", Namespace: "ns"},
			Status:     policyv1.PodDisruptionBudgetStatus{CurrentHealthy: healthy, DesiredHealthy: desired},
		}
	}
	unready := podOf("c-p-0", func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse })
	for name, tc := range map[string]struct {
		objects []client.Object
		want    []string
	}{
		"ready":                                {objects: []client.Object{podOf("c-p-0"), budget(7, 6)}, want: []string{"eviction c-p-0", "status c-p"}},
		"ready, and too few pods are":          {objects: []client.Object{podOf("c-p-0"), budget(6, 7)}, want: []string{"eviction c-p-0", "status c-p"}},
		"not ready, and enough pods are":       {objects: []client.Object{unready, budget(7, 7)}, want: []string{"eviction c-p-0", "status c-p"}},
		"not ready, and too few pods are":      {objects: []client.Object{unready, budget(6, 7)}, want: []string{"delete c-p-0", "status c-p"}},
		"not ready, and there is no budget":    {objects: []client.Object{unready}, want: []string{"eviction c-p-0", "status c-p"}},
		"not ready, and the node is only lost": {objects: []client.Object{unready, budget(6, 7), recordOf("c-p-0", false)}, want: []string{"status c-p"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, append([]client.Object{setOf(t, "r1"), recordOf("c-p-0", true)}, tc.objects...)...)
			r.run(t)
			if diff := cmp.Diff(tc.want, r.writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}
