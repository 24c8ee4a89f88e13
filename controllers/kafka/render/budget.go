package render

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/controllers/labels"
)

// Budget renders the PodDisruptionBudget, which permits the eviction of one node at a time. It permits the eviction of an unready
// pod while all others are ready, so that a crash loop does not block a drain. It does not permit it while another pod is unready,
// because an unready pod may still serve. It uses minAvailable, because maxUnavailable requires a scale subresource of the pods'
// owners.
func (c *Cluster) Budget() *policyv1.PodDisruptionBudget {
	return always(c, part{kind: "budget"}, c.budget)
}

func (c *Cluster) budget() *policyv1.PodDisruptionBudget {
	running := int32(0)
	for i := range c.in.Nodes {
		if c.in.Nodes[i].Runs {
			running++
		}
	}
	available := intstr.FromInt32(max(running-1, 0))
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: c.meta(labels.KafkaName(c.in.Name)),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &available, Selector: &metav1.LabelSelector{MatchLabels: c.selector()},
			UnhealthyPodEvictionPolicy: new(policyv1.IfHealthyBudget),
		},
	}
}
