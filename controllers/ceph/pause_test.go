package ceph_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/record"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// TestKindWithdrawsPermissionsDuringAPause pauses a cluster as soon as its OSDs are launched. They serve during the pause, and what they lose then
// is lost: it is not made again.
func TestKindWithdrawsPermissionsDuringAPause(t *testing.T) {
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "0"}
	r := newRig(t, cluster("ceph:16"))
	r.until("the launch of OSDs", 5*time.Minute, func() bool {
		return r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-osd-2"}, &appsv1.Deployment{}) == nil
	})
	c := r.get()
	c.Annotations = map[string]string{lifecycle.PauseAnnotation: "true"}
	r.must(r.client.Update(t.Context(), c))
	up := func() (running bool) {
		r.ceph.Do(func(c *simulated.Cluster) { one, _ := c.Daemon(osd); running = one.Running })
		return running
	}
	r.until("the OSD", time.Minute, up)
	r.step()
	if got := r.record().Daemons["osd.0"].Format; got != record.FormatDone {
		t.Errorf("the data of an OSD that serves: %q", got)
	}
	r.lose(osd)
	for range 60 {
		r.step()
		if up() {
			t.Fatal("the data of the OSD was made again")
		}
	}
}
