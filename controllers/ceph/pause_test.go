package ceph_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/record"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// TestKindWithdrawsPermissionsDuringAPause pauses a cluster as soon as its OSDs are launched. They serve during the pause, and what they lose then
// is lost: it is not made again. Their places in CRUSH and their budget follow, so that a drain takes one at a time.
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
	hosts := func() (all []string) {
		for _, d := range r.record().Of(cephclient.TypeOSD) {
			all = append(all, r.record().Daemons[d.String()].CrushHost)
		}
		return all
	}
	r.until("the hosts in CRUSH of the OSDs on claims", time.Minute, func() bool { return cmp.Equal([]string{"simulated", "simulated", ""}, hosts()) })
	r.until("a budget that selects the OSDs", time.Minute, func() bool {
		var b policyv1.PodDisruptionBudget
		r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-osd"}, &b))
		return b.Spec.MinAvailable.IntValue() == 2 && len(b.Spec.Selector.MatchExpressions[0].Values) == 0
	})
	r.lose(osd)
	for range 60 {
		r.step()
		if up() {
			t.Fatal("the data of the OSD was made again")
		}
	}
}
