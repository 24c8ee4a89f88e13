package ceph_test

import (
	"strings"
	"testing"
	"time"

	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// TestKindCreatesAnotherFilesystem creates it once the release can tell its metadata servers apart, also where the cluster was created before.
func TestKindCreatesAnotherFilesystem(t *testing.T) {
	const want = "creating the filesystem more: release 14 cannot tell the metadata servers of several filesystems apart: upgrade to release 16 or later first"
	r := launched(t, "14")
	r.ceph.Do(func(c *simulated.Cluster) { c.SeveralFilesystems = false })
	r.edit(func(c *cephv1.Cluster) {
		more := *c.Spec.Filesystems[0].DeepCopy()
		more.Name = "more"
		c.Spec.Filesystems = append(c.Spec.Filesystems, more)
	})
	r.until("the reason", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), want) })
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:16" })
	r.until("the upgrade", 15*time.Minute, func() bool { return r.versions()["mds"] == "16" })
	r.until("the filesystem", 5*time.Minute, func() (found bool) {
		r.ceph.Do(func(c *simulated.Cluster) { found = len(c.Filesystems) == 2 })
		return found && r.settled("16")()
	})
}
