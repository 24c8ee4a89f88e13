package ceph_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// TestKindBudgetsEvictions has a PodDisruptionBudget for the daemons of each type that the spec declares, also after one was deleted.
func TestKindBudgetsEvictions(t *testing.T) {
	c := cluster("ceph:16")
	c.Spec.ObjectStores = nil
	r := newRig(t, c)
	budgets := func() (names []string) {
		var list policyv1.PodDisruptionBudgetList
		r.must(r.client.List(context.Background(), &list))
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		return names
	}
	r.until("the launch", 5*time.Minute, r.settled("16"))
	want := []string{"rook-ceph-mds", "rook-ceph-mgr", "rook-ceph-mon", "rook-ceph-osd"}
	if diff := cmp.Diff(want, budgets()); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
	r.must(r.client.Delete(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "rook-ceph-mon"}}))
	r.edit(func(c *cephv1.Cluster) {
		c.Spec.ObjectStores = append(c.Spec.ObjectStores, cephv1.ObjectStoreSpec{Name: "store", Instances: 1, Port: 8080})
	})
	want = slices.Insert(want, 4, "rook-ceph-rgw")
	r.until("the other budgets", time.Minute, func() bool { return cmp.Equal(want, budgets()) })
}
