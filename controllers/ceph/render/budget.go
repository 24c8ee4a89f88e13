package render

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// Evictions is what a budget permits for the daemons of a type.
type Evictions struct {
	// Count is the number of daemons that the budget selects.
	Count int
	// Free are the ids of the daemons that it does not select: their pods may be evicted at any time.
	Free []string
	// None means that no daemon that it selects may be evicted.
	None bool
}

// Budget returns the PodDisruptionBudget of the daemons of a type: a drain evicts one of them at a time, also if they are on several nodes. A
// single daemon may be evicted. The operator's own changes do not evict pods, and are permitted by Ceph instead. There is one budget for a type: a
// pod that two budgets select cannot be evicted at all.
//
// The budget has a minimum: a maximum counts only the daemons that have a pod. The requirement is never empty: a field that is left out would
// keep what is stored.
func Budget(c *cephv1.Cluster, of ceph.Type, permit Evictions) *policyv1.PodDisruptionBudget {
	selected := metav1.LabelSelectorRequirement{Key: LabelID, Operator: metav1.LabelSelectorOpExists}
	if len(permit.Free) > 0 {
		selected.Operator, selected.Values = metav1.LabelSelectorOpNotIn, permit.Free
	}
	least := permit.Count
	if !permit.None {
		least = max(0, permit.Count-1)
	}
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: c.Name + "-" + string(of), Namespace: c.Namespace, Labels: Labels(c.Name)},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(int32(least))), //nolint:gosec // a cluster has fewer daemons
			Selector: &metav1.LabelSelector{
				MatchLabels: map[string]string{LabelCluster: c.Name, LabelType: string(of)}, MatchExpressions: []metav1.LabelSelectorRequirement{selected},
			},
			UnhealthyPodEvictionPolicy: new(unhealthy(of, least)),
		},
	}
}

// unhealthy is when a daemon that is not ready is evicted. It may still serve, so that all others have to be ready. A budget of no minimum would
// never permit that, and a gateway that is not ready serves no client.
func unhealthy(of ceph.Type, least int) policyv1.UnhealthyPodEvictionPolicyType {
	if least == 0 || of == ceph.TypeRGW {
		return policyv1.AlwaysAllow
	}
	return policyv1.IfHealthyBudget
}
