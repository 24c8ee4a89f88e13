package ceph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// TestKindCompletesNoDeletionOfAClaim upgrades all OSDs but the one whose claim somebody deleted, which Kubernetes keeps while its pod exists.
func TestKindCompletesNoDeletionOfAClaim(t *testing.T) {
	r := launched(t, "16")
	claim := &corev1.PersistentVolumeClaim{}
	name := client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-osd-set-0"}
	r.must(r.client.Get(t.Context(), name, claim))
	claim.Finalizers = []string{"kubernetes.io/pvc-protection"}
	r.must(r.client.Update(t.Context(), claim))
	r.must(r.client.Delete(t.Context(), claim))
	want := "osd.0 is not restarted: its claim rook-ceph-osd-set-0 is being deleted, and its data is lost when the pod rook-ceph-osd-0-"
	r.until("the Warning", time.Minute, func() bool { return strings.HasPrefix(r.warning(status.ClaimDeleted), want) && r.settled("16")() })

	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the reason", 15*time.Minute, func() bool {
		return r.entry().State == "SelectingDaemon" && strings.Contains(r.message(lifecycle.Reconciling), want)
	})
	for range 60 {
		r.step()
	}
	others := []string{"mon.b", "mon.c", "mon.a", "mgr.b", "mgr.a", "osd.1", "osd.2"}
	if diff := cmp.Diff(others, r.started()); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}

	r.must(r.client.Get(t.Context(), name, claim))
	claim.Finalizers = nil
	r.must(r.client.Update(t.Context(), claim))
	r.until("the upgrade", 15*time.Minute, r.settled("18"))
	if warning := r.warning(status.ClaimDeleted); warning != "" {
		t.Errorf("the Warning stays: %s", warning)
	}
}

// TestKindFindsAClaimByItsName and not by its labels alone, which a copy of it has, such as one that was restored from a snapshot.
func TestKindFindsAClaimByItsName(t *testing.T) {
	r := launched(t, "16")
	claim := &corev1.PersistentVolumeClaim{}
	r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-osd-set-0"}, claim))
	another := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "rook-ceph", Name: "rook-ceph-osd-set-0-copy", Labels: claim.Labels, Finalizers: []string{"kubernetes.io/pvc-protection"},
	}}
	r.must(r.client.Create(t.Context(), another))
	r.must(r.client.Delete(t.Context(), another))
	for range 5 {
		r.step()
	}
	if warning := r.warning(status.ClaimDeleted); warning != "" {
		t.Errorf("a copy counts as the claim: %s", warning)
	}
}
