package ceph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// TestKindAdoptsAnImageSetByHand replaces no daemon again that an administrator changed to the wanted image while the operator did not run.
func TestKindAdoptsAnImageSetByHand(t *testing.T) {
	r := launched(t, "16")
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the detection", time.Minute, func() bool { return r.record().Images["ceph:18"].Reference != "" })
	r.edit(func(c *cephv1.Cluster) { c.Annotations = map[string]string{lifecycle.PauseAnnotation: "true"} })
	r.step()
	before := r.started()

	d := &appsv1.Deployment{}
	r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-mon-c"}, d))
	pod := &d.Spec.Template.Spec
	for i := range pod.InitContainers {
		pod.InitContainers[i].Image = r.record().Images["ceph:18"].Reference
	}
	pod.Containers[0].Image = r.record().Images["ceph:18"].Reference
	r.must(r.client.Update(t.Context(), d))
	r.until("the monitor", time.Minute, func() bool { return strings.Contains(r.versions()["mon"], "18") })

	r.edit(func(c *cephv1.Cluster) { c.Annotations = nil })
	r.restart()
	r.step()
	r.until("the upgrade", 15*time.Minute, r.settled("18"))
	want := []string{"mon.c", "mon.b", "mon.a", "mgr.b", "mgr.a", "osd.0", "osd.1", "osd.2", "rgw.store.a", "mds.myfs-b", "mds.myfs-a"}
	if diff := cmp.Diff(want, append(before, r.started()...)); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
	r.clean()
}
