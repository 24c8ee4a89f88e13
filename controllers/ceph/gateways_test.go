package ceph_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// TestKindCorrectsGatewaysThatCrash corrects gateways that crash on the image on which they served. Two do not hold back each other, and one
// does not hold back the upgrade that repairs it.
func TestKindCorrectsGatewaysThatCrash(t *testing.T) {
	for name, tc := range map[string]struct {
		instances int32
		image     string
		release   string
	}{
		"two, by another build": {2, "rebuilt/ceph:16", "16"},
		"one, by an upgrade":    {1, "ceph:18", "18"},
		"two, by an upgrade":    {2, "ceph:18", "18"},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster("ceph:16")
			c.Spec.ObjectStores[0].Instances = tc.instances
			r := newRig(t, c)
			r.world.Images["rebuilt/ceph:16"] = r.world.Images["ceph:16"]
			r.until("the launch", 5*time.Minute, r.settled("16"))
			r.crash(cephclient.TypeRGW, "ceph:16")
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = tc.image })
			r.step()
			r.until("the correction", 20*time.Minute, r.settled(tc.release))
			r.clean()
		})
	}
}

// crash has the daemons of a type fail on the image from now on, and ends their processes.
func (r *rig) crash(t cephclient.Type, image string) {
	r.t.Helper()
	r.world.Broken = func(d cephclient.Daemon, of string) bool { return d.Type == t && strings.HasPrefix(of, image) }
	var all corev1.PodList
	r.must(r.client.List(context.Background(), &all, client.InNamespace(r.key().Namespace)))
	for i := range all.Items {
		if d, _ := render.DaemonOf(all.Items[i].Labels); d.Type == t {
			r.must(r.client.Delete(context.Background(), &all.Items[i]))
		}
	}
	for range 30 {
		r.step()
	}
}
