package render

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// Budget returns the PodDisruptionBudget of the daemons of a type: a drain evicts one of them at a time, also if they are on several
// nodes. A single daemon may be evicted. The operator's own changes do not evict pods, and are permitted by Ceph instead.
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
