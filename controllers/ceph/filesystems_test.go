package ceph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/status"
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

// TestKindCreatesAFilesystemOnce creates a filesystem that was removed from Ceph only if that is approved, once for each approval: an empty one
// would be used as if it were the one that is gone.
func TestKindCreatesAFilesystemOnce(t *testing.T) {
	r := launched(t, "16")
	exists := func() (found bool) {
		r.ceph.Do(func(c *simulated.Cluster) { found = len(c.Filesystems) > 0 })
		return found
	}
	shown := func() string {
		for _, c := range r.get().Status.Conditions {
			if c.Type == lifecycle.Warning && c.Reason == status.FilesystemRemoved {
				return c.Message
			}
		}
		return ""
	}
	for removal := range 2 {
		want := fmt.Sprintf("the filesystem myfs was removed from Ceph, and is not created again: its pools may hold files. To create an empty one, remove or rename its pools, "+
			"and approve that with kubectl annotate clusters.ceph.rook.io rook-ceph -n rook-ceph --overwrite detent.dev/approve=new-filesystem=myfs/%d", removal+1)
		r.ceph.Do(func(c *simulated.Cluster) { c.Filesystems = nil })
		r.until("the Warning", 2*time.Minute, func() bool { return shown() == want })
		for range 60 {
			r.step()
			if exists() {
				t.Fatal("it is created again")
			}
		}
		r.approve(fmt.Sprintf("new-filesystem=myfs/%d", removal+1))
		r.until("the refusal of Ceph", 2*time.Minute, func() bool {
			return strings.Contains(r.message(lifecycle.Ready), "pool 'myfs-metadata' already contains some objects")
		})
		r.ceph.Do(func(c *simulated.Cluster) { c.Pools = nil })
		r.until("the new filesystem", 10*time.Minute, func() bool { return exists() && shown() == "" && r.settled("16")() })
	}
}

// TestKindKeepsOneReleaseOfMetadataServers starts no metadata server of 14 beside one of 16, whatever the spec asks for in between.
func TestKindKeepsOneReleaseOfMetadataServers(t *testing.T) {
	for name, disturb := range map[string]func(*rig){
		"a pod of monitors changes": func(r *rig) {
			r.edit(func(c *cephv1.Cluster) {
				c.Spec.Resources = map[string]corev1.ResourceRequirements{"mon": {Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}}
			})
		},
		"another standby": func(r *rig) {
			r.edit(func(c *cephv1.Cluster) { c.Spec.Filesystems[0].StandbyCount = 2 })
		},
		"the Deployment of a stopped standby is deleted": func(r *rig) {
			r.delete("rook-ceph-mds-myfs-b")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster("ceph:14")
			c.Spec.Filesystems[0].ActiveCount = 2
			r := newRig(t, c)
			r.until("the launch", 5*time.Minute, r.settled("14"))
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:16" })
			r.step()
			r.until("the active metadata server", 15*time.Minute, func() bool {
				return r.entry().State == "AwaitingDaemon" && r.entry().Data["daemon"] == "mds.myfs-a" && r.entry().Data["step"] == "Replace"
			})
			disturb(r)
			r.until("the upgrade", 30*time.Minute, func() bool {
				running := map[int]bool{}
				active := 0
				r.ceph.Do(func(c *simulated.Cluster) {
					for _, d := range c.Daemons {
						if d.Name.Type == cephclient.TypeMDS && d.Running {
							running[d.Version.Major] = true
						}
					}
					active = c.Filesystems[0].MaxMDS
				})
				if len(running) > 1 {
					t.Fatalf("metadata servers of the releases %v run", running)
				}
				return active == 2 && r.settled("16")()
			})
		})
	}
}
