package ceph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
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
	labels := "and the labels ceph.rook.io/cluster=rook-ceph and detent.dev/slot=set-0"
	r.until("the Warning", time.Minute, func() bool {
		text := r.warning(status.ClaimDeleted)
		return strings.HasPrefix(text, want) && strings.HasSuffix(text, labels) && r.settled("16")()
	})

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

// TestKindMakesNoClaimOfAnOSDWithDataAnew leaves the name of a claim that is gone free for one with the volume of the OSD, and says which labels
// that one lacks.
func TestKindMakesNoClaimOfAnOSDWithDataAnew(t *testing.T) {
	for name, tc := range map[string]struct {
		labels map[string]string
		lacks  string
	}{
		"another claim with the labels":    {labels: map[string]string{render.LabelCluster: "rook-ceph", render.LabelSlot: "set-0"}},
		"another claim without the labels": {lacks: "ceph.rook.io/cluster=rook-ceph detent.dev/slot=set-0"},
		"another claim without one label":  {labels: map[string]string{render.LabelCluster: "rook-ceph"}, lacks: "detent.dev/slot=set-0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: "rook-ceph-osd-set-0"}}
			r.must(r.client.Delete(t.Context(), claim))
			r.world.Unscheduled = func(p *corev1.Pod) bool {
				return p.Labels[render.LabelType] == "osd" && p.Labels[render.LabelID] == "0"
			}
			r.lose(cephclient.Daemon{Type: cephclient.TypeOSD, ID: "0"})
			r.world.Empty = nil
			want := "osd.0 cannot run: there is no claim rook-ceph-osd-set-0 with the labels ceph.rook.io/cluster=rook-ceph and detent.dev/slot=set-0"
			r.until("the Warning", time.Minute, func() bool { return strings.HasPrefix(r.warning(status.ClaimDeleted), want) })
			for range 60 {
				r.step()
			}
			if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); !apierrors.IsNotFound(err) {
				t.Fatalf("the claim is made anew: %v", err)
			}
			another := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: "rook-ceph-osd-set-0", Labels: tc.labels}}
			r.must(r.client.Create(t.Context(), another))
			if tc.lacks != "" {
				r.until("the labels", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), tc.lacks) })
				another.Labels = map[string]string{render.LabelCluster: "rook-ceph", render.LabelSlot: "set-0"}
				r.must(r.client.Update(t.Context(), another))
			}
			r.world.Unscheduled = nil
			r.until("the OSD", 5*time.Minute, func() bool { return r.settled("16")() && r.warning(status.ClaimDeleted) == "" })
		})
	}
}

// TestKindNamesTheLabelsThatAClaimLacks of a new OSD, which cannot be created beside it.
func TestKindNamesTheLabelsThatAClaimLacks(t *testing.T) {
	r := launched(t, "16")
	r.must(r.client.Create(t.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: "rook-ceph-osd-set-2"}}))
	r.edit(func(c *cephv1.Cluster) { c.Spec.Storage.VolumeClaims[0].Count = 3 })
	want := "kubectl label --overwrite -n rook-ceph pvc rook-ceph-osd-set-2 ceph.rook.io/cluster=rook-ceph detent.dev/slot=set-2"
	r.until("the labels", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), want) })
}
