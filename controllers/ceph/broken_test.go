package ceph_test

import (
	"strings"
	"testing"
	"time"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

// TestKindCorrectsAnImageThatDoesNotStart replaces the daemon that does not start first, whichever image of the release corrects it: nothing
// else may be replaced while it is away.
func TestKindCorrectsAnImageThatDoesNotStart(t *testing.T) {
	for name, tc := range map[string]struct {
		broken cephclient.Type
		daemon string
		fixed  string
	}{
		"a monitor, by a later patch":                 {cephclient.TypeMon, "mon.b", "ceph:18.2.8"},
		"a manager, by another build":                 {cephclient.TypeMgr, "mgr.b", "ceph:fixed"},
		"a manager, by a later patch":                 {cephclient.TypeMgr, "mgr.b", "ceph:18.2.8"},
		"an OSD, by another build":                    {cephclient.TypeOSD, "osd.0", "ceph:fixed"},
		"an OSD, by a later patch":                    {cephclient.TypeOSD, "osd.0", "ceph:18.2.8"},
		"a gateway, by another build":                 {cephclient.TypeRGW, "rgw.store.a", "ceph:fixed"},
		"a gateway, by a later patch":                 {cephclient.TypeRGW, "rgw.store.a", "ceph:18.2.8"},
		"a standby metadata server, by another build": {cephclient.TypeMDS, "mds.myfs-b", "ceph:fixed"},
		"a standby metadata server, by a later patch": {cephclient.TypeMDS, "mds.myfs-b", "ceph:18.2.8"},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.world.Images["ceph:fixed"] = r.world.Images["ceph:18"]
			later := r.world.Images["ceph:18"]
			later.Patch, later.Commit = later.Patch+1, "later"
			r.world.Images["ceph:18.2.8"] = later
			r.world.Broken = func(d cephclient.Daemon, image string) bool {
				return d.Type == tc.broken && strings.HasPrefix(image, "ceph:18@")
			}
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
			r.step()
			r.until("the daemon that does not start", 15*time.Minute, func() bool {
				return r.entry().State == cephupgrade.AwaitingDaemon && r.entry().Data["daemon"] == tc.daemon
			})
			for range 30 {
				r.step()
			}
			r.started()
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = tc.fixed })
			r.until("the correction", 15*time.Minute, func() bool { return len(r.world.Started) > 0 })
			if first := r.world.Started[0].Daemon.String(); first != tc.daemon {
				t.Errorf("first started: got %s, want %s", first, tc.daemon)
			}
			r.until("the upgrade", 20*time.Minute, func() bool {
				v := r.get().Status.Version
				return v != nil && v.Version == r.world.Images[tc.fixed].String() && r.condition(status.VersionSettled) == "True"
			})
			r.clean()
		})
	}
}

// TestKindCorrectsTheImageOfALaunch replaces daemons that never started by another build of their version.
func TestKindCorrectsTheImageOfALaunch(t *testing.T) {
	r := newRig(t, cluster("ceph:16"))
	r.world.Images["ceph:fixed"] = r.world.Images["ceph:16"]
	r.world.Broken = func(d cephclient.Daemon, image string) bool {
		return d.Type == cephclient.TypeOSD && strings.HasPrefix(image, "ceph:16@")
	}
	for range 60 {
		r.step()
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:fixed" })
	r.until("the launch", 10*time.Minute, r.settled("16"))
}
