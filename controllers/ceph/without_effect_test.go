package ceph_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	simulated "github.com/detent-dev/detent/simulator/ceph"
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

// TestKindWarnsOfAReleaseThatIsNotRequired: the operator cannot require a release of the OSDs whose name it does not know. This is shown until
// somebody else has required it, and neither this nor a later patch is a dead end.
func TestKindWarnsOfAReleaseThatIsNotRequired(t *testing.T) {
	tentacle, umbrella, patch := versions.Version{Major: 20, Minor: 2, Patch: 1}, versions.Version{Major: 21, Minor: 2}, versions.Version{Major: 21, Minor: 2, Patch: 1}
	r := newRig(t, cluster("ceph:20"))
	r.world.Images["ceph:20"], r.world.Images["ceph:21"], r.world.Images["ceph:21.2.1"] = tentacle, umbrella, patch
	r.until("the launch", 5*time.Minute, func() bool { return r.settledOn(tentacle) })
	change := func(image string) {
		r.edit(func(c *cephv1.Cluster) {
			c.Spec.CephVersion = &cephv1.CephVersion{Image: image, AllowUnsupported: true}
		})
	}
	change("ceph:21")
	const want = "the name of the release of Ceph 21.2.0 is not known, so that OSDs of older releases stay accepted. Once every OSD runs it, require it with ceph osd require-osd-release <name>, or add it to a copy of the table ceph-versions.yaml, and give that to the manager with --ceph-versions FILE"
	r.until("the warning", 5*time.Minute, func() bool { return r.warning("ReleaseNotRequired") == want })
	r.until("the OSDs", 15*time.Minute, func() bool { return r.versions()["osd"] == "21" && r.versions()["mds"] == "20" })
	if warning := r.warning("ReleaseNotRequired"); warning != want {
		t.Errorf("once every OSD runs it the warning is %q", warning)
	}
	r.ceph.Do(func(c *simulated.Cluster) { c.RequireRelease = 21 })
	r.until("the rest", 15*time.Minute, func() bool { return r.settledOn(umbrella) && r.warning("ReleaseNotRequired") == "" })
	change("ceph:21.2.1")
	r.until("the patch", 15*time.Minute, func() bool { return r.settledOn(patch) })
	r.clean()
}
