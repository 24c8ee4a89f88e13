package ceph_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// TestKindCorrectsALaunch launches the monitors as the spec wants them now while none has ever served: without them nothing else decides.
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

// TestKindCorrectsALaunchWithoutDeployments launches with an image whose Deployments the API server refuses, also that of the tools. Nothing runs
// on it, and the spec can name another one.
func TestKindCorrectsALaunchWithoutDeployments(t *testing.T) {
	c := cluster("ceph:broken")
	r := newRig(t, c)
	r.world.Images["ceph:broken"] = cephtest.Releases()["16"]
	base := r.client
	r.client = interceptor.NewClient(base.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if d, is := o.(*appsv1.Deployment); is && strings.HasPrefix(d.Spec.Template.Spec.Containers[0].Image, "ceph:broken@") {
				return errors.New("the registry is not permitted")
			}
			return c.Create(ctx, o, opts...)
		},
	})
	r.exec = (&tools{r: r}).exec
	r.restart()
	r.until("the reason", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), "the registry is not permitted") })
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:16" })
	r.until("the cluster", 10*time.Minute, r.settled("16"))
	if got := r.record().Daemons["mon.a"].Image; got != "ceph:16" {
		t.Errorf("the image of mon.a is recorded as %s", got)
	}
}
