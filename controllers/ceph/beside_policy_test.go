package ceph_test

import (
	"slices"
	"testing"
	"time"

	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

// besidePolicy launches a cluster of 16 without its stores and filesystems, and changes everything else to 18 by a policy.
func besidePolicy(t *testing.T, c *cephv1.Cluster) *rig {
	t.Helper()
	c.Spec.ObjectStores, c.Spec.Filesystems = nil, nil
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	r.edit(func(c *cephv1.Cluster) {
		c.Spec.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18"}, Components: []cephv1.Component{"mon", "mgr", "osd"}}
	})
	r.until("the policy", 15*time.Minute, r.settled("18"))
	return r
}

// TestKindLaunchesWhatThePolicyLeaves launches the first gateway and the first filesystem beside a policy that is done on the version that the
// spec leaves to them: a newer one would be held.
func TestKindLaunchesWhatThePolicyLeaves(t *testing.T) {
	c := cluster("ceph:16")
	stores, filesystems := c.Spec.ObjectStores, c.Spec.Filesystems
	r := besidePolicy(t, c)
	r.edit(func(c *cephv1.Cluster) { c.Spec.ObjectStores, c.Spec.Filesystems = stores, filesystems })
	r.until("the daemons", 5*time.Minute, func() bool {
		return r.versions()["mds"] == "16" && r.record().Daemons["rgw.store.a"].Image == "ceph:16" && r.entry().State == cephupgrade.AwaitingAdmin
	})
	if slices.Contains(r.states, cephupgrade.PolicyRemoved) {
		t.Errorf("it was held: %v", r.states)
	}
}

// TestKindLaunchesNothingThatIsTooFar launches the first gateway beside a policy on the release that runs if the spec leaves one to it that is further
// behind than an upgrade may be.
func TestKindLaunchesNothingThatIsTooFar(t *testing.T) {
	c := cluster("ceph:16")
	stores := c.Spec.ObjectStores
	r := besidePolicy(t, c)
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image, c.Spec.ObjectStores = "ceph:14", stores })
	r.until("the gateway", 5*time.Minute, func() bool { return r.record().Daemons["rgw.store.a"].Image != "" })
	if got := r.record().Daemons["rgw.store.a"].Image; got != "ceph:18" {
		t.Errorf("the gateway was launched on %s, want ceph:18", got)
	}
}

// TestKindLaunchesNoFirstDaemonWhileTheSpecIsRefused, which would be on the newest release, whatever the policy leaves to it.
func TestKindLaunchesNoFirstDaemonWhileTheSpecIsRefused(t *testing.T) {
	c := cluster("ceph:16")
	stores := c.Spec.ObjectStores
	r := besidePolicy(t, c)
	r.edit(func(c *cephv1.Cluster) {
		c.Spec.UpgradePolicy.Components = []cephv1.Component{"mon", "osd"}
		c.Spec.ObjectStores = stores
	})
	for range 60 {
		r.step()
	}
	if got := r.record().Daemons["rgw.store.a"].Image; got != "" {
		t.Errorf("the gateway was launched on %s while the spec is refused", got)
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.UpgradePolicy.Components = []cephv1.Component{"mon", "mgr", "osd"} })
	r.until("the gateway", 5*time.Minute, func() bool { return r.record().Daemons["rgw.store.a"].Image == "ceph:16" })
}
