package ceph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// TestKindCorrectsALaunch launches the monitors as the spec wants them now while none has ever served: without them nothing else decides.
//
//test:norace
func TestKindCorrectsALaunch(t *testing.T) {
	image := func(name string) func(*cephv1.Cluster) {
		return func(c *cephv1.Cluster) { c.Spec.CephVersion = &cephv1.CephVersion{Image: name} }
	}
	for name, tc := range map[string]struct {
		launch, correct func(*cephv1.Cluster)
		release         string
		hand            string
	}{
		"another build":        {launch: image("ceph:broken"), correct: image("ceph:16"), release: "16"},
		"a later release":      {launch: image("ceph:broken"), correct: image("ceph:18"), release: "18"},
		"an earlier release":   {launch: image("ceph:broken"), correct: image("ceph:14"), release: "14"},
		"no image":             {launch: requests(cephclient.TypeMon, "900Gi"), correct: func(c *cephv1.Cluster) { requests("", "")(c); c.Spec.CephVersion = nil }, release: "16"},
		"other resources":      {launch: requests(cephclient.TypeMon, "900Gi"), correct: requests("", ""), release: "16"},
		"a Deployment by hand": {launch: image("ceph:broken"), correct: image("ceph:broken"), release: "16", hand: "ceph:16"},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster("ceph:16")
			tc.launch(c)
			r := newRig(t, c)
			r.world.Images["ceph:broken"] = cephtest.Releases()["16"]
			r.world.Unscheduled = tooLarge
			r.world.Broken = func(_ cephclient.Daemon, image string) bool { return strings.HasPrefix(image, "ceph:broken@") }
			for range 60 {
				r.step()
			}
			if one := r.record().Daemons["mon.c"]; one.Reference == "" || one.Format != record.FormatAllowed {
				t.Fatalf("mon.c is recorded as %+v", one)
			}
			if tc.hand != "" {
				for _, name := range []string{"a", "b", "c"} {
					r.image("rook-ceph-mon-"+name, tc.hand)
				}
			}
			r.edit(tc.correct)
			r.until("the cluster", 10*time.Minute, r.settled(tc.release))
			want := []string{"mon.a", "mon.b", "mon.c", "mgr.a", "mgr.b", "osd.0", "osd.1", "osd.2", "rgw.store.a", "mds.myfs-a", "mds.myfs-b"}
			if diff := cmp.Diff(want, r.started()); diff != "" {
				t.Errorf("started (-want +got):\n%s", diff)
			}
			r.clean()
		})
	}
}

// TestKindShowsWhyALaunchIsNotCorrected shows what is wrong with the corrected spec, and changes no monitor until it is permitted.
//
//test:norace
func TestKindShowsWhyALaunchIsNotCorrected(t *testing.T) {
	r := newRig(t, cluster("ceph:16"))
	r.world.Broken = func(_ cephclient.Daemon, image string) bool { return strings.HasPrefix(image, "ceph:16@") }
	for range 60 {
		r.step()
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "busybox:1" })
	r.until("the reason", 5*time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), "is not an image of Ceph") })
	if got := r.record().Daemons["mon.a"].Image; got != "ceph:16" {
		t.Errorf("the image of mon.a is recorded as %s", got)
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the cluster", 10*time.Minute, r.settled("18"))
}
