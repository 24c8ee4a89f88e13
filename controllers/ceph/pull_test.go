package ceph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/ceph/pods"
)

// TestKindPullsTheImageFirst ends no daemon on a node that cannot pull the image, names the node, and goes on by itself.
func TestKindPullsTheImageFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		prevent func(w *pods.World, node, job string)
		want    string
	}{
		"the image cannot be pulled": {func(w *pods.World, node, _ string) {
			w.Unpulled = func(at, image string) bool { return at == node && image == "ceph:18" }
		}, "the image cannot be pulled"},
		"the node takes no pod": {func(w *pods.World, _, job string) {
			w.Unscheduled = func(p *corev1.Pod) bool { return metav1.GetControllerOf(p).Name == job }
		}, "the node takes no pod: check whether it is cordoned, has no room, or has taints that spec.placement.mon.tolerations does not tolerate"},
		"no pod is created": {func(w *pods.World, _, job string) {
			w.Refused = func(j *batchv1.Job) bool { return j.Name == job }
		}, "see its events"},
	} {
		t.Run(name, func(t *testing.T) { pullsFirst(t, tc.prevent, tc.want) })
	}
}

func pullsFirst(t *testing.T, prevent func(w *pods.World, node, job string), why string) {
	t.Helper()
	r := launched(t, "16")
	before := r.record()
	bad := before.Daemons["mon.c"].Node
	image := "ceph:18@sha256:" + strings.Repeat("5", 64)
	prevent(r.world, bad, "rook-ceph-pull-"+render.PullID(r.get(), cephclient.TypeMon, bad, image))
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	want := "replacing mon.c: the node " + bad + " pulls the image " + image + " first: "
	r.until("the reason", 5*time.Minute, func() bool {
		text := r.message(lifecycle.Ready)
		return strings.Contains(text, want) && strings.Contains(text, why)
	})
	for range 60 {
		r.step()
	}
	if diff := cmp.Diff([]string{"mon.b"}, r.started()); diff != "" {
		t.Errorf("started meanwhile (-want +got):\n%s", diff)
	}
	if now := r.record().Daemons["mon.c"]; now != before.Daemons["mon.c"] {
		t.Errorf("mon.c may have started on another version: %+v", now)
	}
	r.world.Unpulled, r.world.Unscheduled, r.world.Refused = nil, nil, nil
	r.until("the end", 15*time.Minute, r.settled("18"))
	r.clean()
}
