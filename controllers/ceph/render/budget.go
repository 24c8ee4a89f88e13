package render

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// Budget returns the PodDisruptionBudget of the daemons of a type: a drain evicts one of them at a time, also if they are on several
// nodes. A single daemon may be evicted. The operator's own changes do not evict pods, and are permitted by Ceph instead. That of OSDs is
// OSDBudget.
func Budget(c *cephv1.Cluster, of ceph.Type) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: c.Name + "-" + string(of), Namespace: c.Namespace, Labels: Labels(c.Name)},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)),
			Selector:       &metav1.LabelSelector{MatchLabels: map[string]string{LabelCluster: c.Name, LabelType: string(of)}},
			// A daemon that is not ready may still serve. It is evicted while all others are ready.
			UnhealthyPodEvictionPolicy: new(policyv1.IfHealthyBudget),
		},
	}
}

// OSDBudget returns the PodDisruptionBudget of the OSDs. While a host is away, all OSDs on it may be evicted, and no other one. Those that have
// never served may be evicted, too: a budget that counts one that does not start would let no other one go. There is one budget: a pod that two
// budgets select cannot be evicted at all. The requirement is never empty: a field that is left out would keep what is stored.
func OSDBudget(c *cephv1.Cluster, away, neverServed []string) *policyv1.PodDisruptionBudget {
	out := Budget(c, ceph.TypeOSD)
	others := metav1.LabelSelectorRequirement{Key: LabelID, Operator: metav1.LabelSelectorOpExists}
	if free := slices.Concat(away, neverServed); len(free) > 0 {
		others.Operator, others.Values = metav1.LabelSelectorOpNotIn, free
	}
	if len(away) > 0 {
		out.Spec.MaxUnavailable = new(intstr.FromInt32(0))
	}
	out.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{others}
	return out
}
