package ceph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// TestKindPullsTheImageFirst ends no daemon on a node that cannot pull the image, names the node, and goes on by itself.
func TestKindPullsTheImageFirst(t *testing.T) {
	r := launched(t, "16")
	before := r.record()
	bad := before.Daemons["mon.c"].Node
	r.world.Unpulled = func(node, image string) bool { return node == bad && image == "ceph:18" }
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	want := "replacing mon.c: the node " + bad + " pulls the image ceph:18@sha256:" + strings.Repeat("5", 64) + " first: the image cannot be pulled"
	r.until("the reason", 5*time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), want) })
	for range 60 {
		r.step()
	}
	if diff := cmp.Diff([]string{"mon.b"}, r.started()); diff != "" {
		t.Errorf("started meanwhile (-want +got):\n%s", diff)
	}
	if now := r.record().Daemons["mon.c"]; now != before.Daemons["mon.c"] {
		t.Errorf("mon.c may have started on another version: %+v", now)
	}
	r.world.Unpulled = nil
	r.until("the end", 15*time.Minute, r.settled("18"))
	r.clean()
}
