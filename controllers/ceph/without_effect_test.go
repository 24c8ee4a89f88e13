package ceph_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

// TestKindWarnsOfAVersionWithoutEffect: a policy that is left from an earlier upgrade, and that has every daemon of the cluster, keeps it from
// the next version. This is shown until the policy is removed.
func TestKindWarnsOfAVersionWithoutEffect(t *testing.T) {
	c := cluster("ceph:16")
	c.Spec.Filesystems, c.Spec.ObjectStores = nil, nil
	c.Spec.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:16"}, Components: []cephv1.Component{"mon", "mgr", "osd"}}
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	r.started()
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	const want = "spec.upgradePolicy asks for 16.2.15 pacific for every daemon, so that spec.cephVersion, of 18.2.7 reef, has no effect. To change to 18.2.7, remove spec.upgradePolicy"
	shown := func() []string {
		return []string{r.entry().State, r.condition(status.VersionSettled), r.message(status.VersionSettled), r.warning("VersionWithoutEffect")}
	}
	r.until("the warning", 5*time.Minute, func() bool { return cmp.Equal([]string{cephupgrade.Settled, "False", want, want}, shown()) })
	for range 60 {
		r.step()
	}
	if diff := cmp.Diff([]string{cephupgrade.Settled, "False", want, want}, shown()); diff != "" || len(r.started()) > 0 {
		t.Errorf("a minute later (-want +got), and started %v:\n%s", r.world.Started, diff)
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.UpgradePolicy = nil })
	r.until("the upgrade", 15*time.Minute, r.settled("18"))
	if warning := r.warning("VersionWithoutEffect"); warning != "" {
		t.Errorf("without the policy it warns: %s", warning)
	}
}
