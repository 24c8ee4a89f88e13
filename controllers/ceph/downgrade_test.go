package ceph_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// patches are a later and an older patch release of 18.
func (r *rig) patches() {
	r.world.Images["ceph:18.2.9"] = versions.Version{Major: 18, Minor: 2, Patch: 9, Commit: "later"}
	r.world.Images["ceph:18.2.4"] = versions.Version{Major: 18, Minor: 2, Patch: 4, Commit: "older"}
}

// TestKindMovesNoDaemonBackUnasked holds where daemons are newer than the spec without a request for an older release: an earlier upgrade to what
// the spec asks for is none.
func TestKindMovesNoDaemonBackUnasked(t *testing.T) {
	for name, tc := range map[string]struct {
		edits []func(*cephv1.ClusterSpec)
		hand  string
	}{
		"an administrator upgraded a monitor": {hand: "rook-ceph-mon-c"},
		"the policy is removed": {edits: []func(*cephv1.ClusterSpec){
			func(c *cephv1.ClusterSpec) {
				c.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18.2.9"}, Components: []cephv1.Component{"mon"}}
			},
			func(c *cephv1.ClusterSpec) { c.UpgradePolicy = nil },
		}},
		"the policy of every component is removed": {edits: []func(*cephv1.ClusterSpec){
			func(c *cephv1.ClusterSpec) {
				c.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18.2.9"}, Components: []cephv1.Component{"mon", "mgr", "osd", "rgw", "mds"}}
			},
			func(c *cephv1.ClusterSpec) { c.UpgradePolicy = nil },
		}},
		"the policy is removed after the image was written by another name": {edits: []func(*cephv1.ClusterSpec){
			func(c *cephv1.ClusterSpec) {
				c.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18.2.9"}, Components: []cephv1.Component{"mon", "mgr", "osd", "rgw", "mds"}}
			},
			func(c *cephv1.ClusterSpec) { c.CephVersion.Image = "mirror/ceph:18" },
			func(c *cephv1.ClusterSpec) { c.UpgradePolicy = nil },
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.patches()
			r.world.Images["mirror/ceph:18"] = r.world.Images["ceph:18"]
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
			r.step()
			r.until("the upgrade", 15*time.Minute, r.settled("18"))
			if tc.hand != "" {
				r.setByHand(tc.hand, "ceph:18.2.9")
				r.until("the monitor", time.Minute, func() bool { return r.patch("mon.c") == 9 })
				r.resume()
			}
			for _, edit := range tc.edits {
				r.edit(func(c *cephv1.Cluster) { edit(&c.Spec) })
				r.until("the end of the edit", 15*time.Minute, func() bool {
					return r.patch("mon.c") == 9 && (r.entry().State == cephupgrade.Settled || r.entry().State == cephupgrade.AwaitingAdmin || r.entry().State == cephupgrade.PolicyRemoved) && r.get().Status.ObservedGeneration == r.get().Generation
				})
			}
			r.until("the hold", 5*time.Minute, func() bool { return r.entry().State == cephupgrade.PolicyRemoved })
			for range 60 {
				r.step()
			}
			if got := r.patch("mon.c"); got != 9 {
				t.Errorf("mon.c runs 18.2.%d", got)
			}
		})
	}
}

// TestKindGoesBackToAnOlderPatch finishes a downgrade that was asked for, whatever is lost in between, and moves no daemon back afterwards.
func TestKindGoesBackToAnOlderPatch(t *testing.T) {
	for name, edit := range map[string]func(*cephv1.ClusterSpec){
		"of the cluster": func(c *cephv1.ClusterSpec) { c.CephVersion.Image = "ceph:18.2.4" },
		"of the policy": func(c *cephv1.ClusterSpec) {
			c.CephVersion, c.UpgradePolicy = nil, &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18.2.4"}, Components: []cephv1.Component{"mon"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "18")
			r.patches()
			r.edit(func(c *cephv1.Cluster) { edit(&c.Spec) })
			r.until("the first monitor", 5*time.Minute, func() bool { return r.patch("mon.b") == 4 })
			c := r.get()
			c.Status.Lifecycles = nil
			r.must(r.client.Status().Update(t.Context(), c))
			r.until("the end", 15*time.Minute, func() bool {
				return r.patch("mon.a") == 4 && (r.entry().State == cephupgrade.Settled || r.entry().State == cephupgrade.AwaitingAdmin)
			})
			if r.get().Spec.UpgradePolicy != nil {
				return
			}
			r.setByHand("rook-ceph-mon-c", "ceph:18")
			r.until("the monitor", time.Minute, func() bool { return r.patch("mon.c") == 7 })
			r.resume()
			r.until("the hold", 5*time.Minute, func() bool { return r.entry().State == cephupgrade.PolicyRemoved })
			if got := r.patch("mon.c"); got != 7 {
				t.Errorf("mon.c runs 18.2.%d", got)
			}
		})
	}
}

// TestKindMovesNoDaemonBackAfterALaunch holds where every daemon of a cluster that was never upgraded is newer than the spec, and goes back once
// that is asked for. Another name of the version that runs asks for nothing.
func TestKindMovesNoDaemonBackAfterALaunch(t *testing.T) {
	c := cluster("ceph:18")
	c.Spec.ObjectStores = nil
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("18"))
	r.patches()
	r.world.Images["mirror/ceph:18"] = r.world.Images["ceph:18"]
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "mirror/ceph:18" })
	for range 60 {
		r.step()
	}
	all := []string{"mon.a", "mon.b", "mon.c", "mgr.a", "mgr.b", "osd.0", "osd.1", "osd.2", "mds.myfs-a", "mds.myfs-b"}
	run := func(patch int) func() bool {
		return func() bool { return !slices.ContainsFunc(all, func(d string) bool { return r.patch(d) != patch }) }
	}
	for _, d := range all {
		kind, id, _ := strings.Cut(d, ".")
		r.setByHand("rook-ceph-"+kind+"-"+id, "ceph:18.2.9")
	}
	r.until("every daemon", 5*time.Minute, run(9))
	r.resume()
	r.until("the hold", 5*time.Minute, func() bool { return r.entry().State == cephupgrade.PolicyRemoved })
	for range 60 {
		r.step()
	}
	if !run(9)() {
		t.Errorf("a daemon was moved back: %v", r.started())
	}
	for _, image := range []string{"ceph:18.2.9", "ceph:18.2.4"} {
		r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = image })
		r.until("the end of the edit", 20*time.Minute, func() bool {
			return r.entry().State == cephupgrade.Settled && r.get().Status.ObservedGeneration == r.get().Generation
		})
	}
	if !run(4)() {
		t.Errorf("a downgrade that was asked for ended before every daemon was changed: %v", r.started())
	}
}

// patch returns the patch release that a daemon runs.
func (r *rig) patch(name string) (patch int) {
	kind, id, _ := strings.Cut(name, ".")
	r.ceph.Do(func(c *simulated.Cluster) {
		d, _ := c.Daemon(cephclient.Daemon{Type: cephclient.Type(kind), ID: id})
		patch = d.Version.Patch
	})
	return patch
}
