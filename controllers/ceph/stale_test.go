package ceph_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// TestKindKeepsTheFlagOfAnOSDWhoseChangeItsCacheDoesNotShow ends the process after the Deployment of an OSD was written. The cache of its
// successor shows the Deployment from before, and the status is lost. The pod from before may end at any time.
func TestKindKeepsTheFlagOfAnOSDWhoseChangeItsCacheDoesNotShow(t *testing.T) {
	r := launched(t, "16")
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "0"}
	flagged := func() (yes bool) {
		r.ceph.Do(func(c *simulated.Cluster) {
			d, _ := c.Daemon(osd)
			yes = d.NoOut
		})
		return yes
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the change of the OSD", 10*time.Minute, func() bool {
		return r.entry().State == cephupgrade.ReplacingDaemon && r.entry().Data["daemon"] == osd.String()
	})
	before := &appsv1.DeploymentList{}
	r.must(r.client.List(context.Background(), before))
	r.world.Lag = time.Hour
	r.until("its Deployment", time.Minute, func() bool { return r.entry().State == cephupgrade.AwaitingDaemon })

	behind := true
	cached := interceptor.NewClient(r.client.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if into, ok := list.(*appsv1.DeploymentList); ok && behind {
				before.DeepCopyInto(into)
				return nil
			}
			return c.List(ctx, list, opts...)
		},
	})
	r.restart()
	r.reconciler = lifecycle.New(r.kind, lifecycle.Options{Client: cached, Live: r.client, Clock: r.clock})
	c := r.get()
	c.Status.Lifecycles = nil
	r.must(r.client.Status().Update(context.Background(), c))
	for range 60 {
		r.step()
		if !flagged() {
			t.Fatalf("the flag is gone in %s, while the pod from before runs", r.entry().State)
		}
	}

	behind, r.world.Lag = false, 0
	r.until("the upgrade", 10*time.Minute, r.rests("18"))
	r.clean()
}
