package ceph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// TestKindKeepsTheDataDirOfMonitors declares another spec.dataDirHostPath, as only a Cluster that is created again can.
func TestKindKeepsTheDataDirOfMonitors(t *testing.T) {
	for name, earlier := range map[string]bool{"placed by this release": false, "placed by an earlier release": true} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			if earlier {
				r.forgetDataDirs()
				r.until("the directories", time.Minute, func() bool { return r.record().Daemons["mon.c"].DataDir != "" })
			}
			before := r.directories()
			r.started()
			r.edit(func(c *cephv1.Cluster) { c.Spec.DataDirHostPath = "/data" })
			r.until("the Warning", time.Minute, func() bool {
				return strings.Contains(r.warning(status.DataDirElsewhere), "mon.a keeps its data below /var/lib/rook, where it was made, and spec.dataDirHostPath is /data")
			})
			r.delete("rook-ceph-mon-b")
			r.until("the monitor", 2*time.Minute, func() bool { return r.deployment(mon("b")) && r.settled("16")() })
			if diff := cmp.Diff(before, r.directories()); diff != "" {
				t.Errorf("directories (-want +got):\n%s", diff)
			}
		})
	}
}

// TestKindMovesTheDataDirOfAMonitorThatWasNotLaunched places two of three monitors, whose cluster is not founded without the third one, and creates
// the Cluster again with another directory.
func TestKindMovesTheDataDirOfAMonitorThatWasNotLaunched(t *testing.T) {
	c := cluster("ceph:16")
	r := newRig(t, c)
	r.must(r.client.Delete(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-3"}}))
	r.until("the hosts", time.Minute, func() bool { return r.placed("mon.b") })
	r.edit(func(c *cephv1.Cluster) { c.Spec.DataDirHostPath = "/data" })
	r.node("node-3")
	r.until("the launch", 5*time.Minute, r.settled("16"))
	for _, name := range []string{"mon.a", "mon.b", "mon.c"} {
		if got := r.record().Daemons[name].DataDir; got != "/data" {
			t.Errorf("%s is in %s", name, got)
		}
	}
}

// placed reports whether a monitor has a host.
func (r *rig) placed(name string) bool {
	var stored corev1.ConfigMap
	if r.client.Get(r.t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: record.Name("rook-ceph")}, &stored) != nil {
		return false
	}
	return r.record().Daemons[name].Node != ""
}

// forgetDataDirs makes the record one of an earlier release.
func (r *rig) forgetDataDirs() {
	r.t.Helper()
	var stored corev1.ConfigMap
	r.must(r.client.Get(r.t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: record.Name("rook-ceph")}, &stored))
	before, err := record.Decode(stored.Data)
	r.must(err)
	for name, one := range before.Daemons {
		one.DataDir = ""
		before.Daemons[name] = one
	}
	stored.Data, err = record.Encode(before)
	r.must(err)
	r.must(r.client.Update(r.t.Context(), &stored))
}

// directories returns the directories on hosts by the names of the Deployments.
func (r *rig) directories() map[string]string {
	r.t.Helper()
	var list appsv1.DeploymentList
	r.must(r.client.List(r.t.Context(), &list))
	out := map[string]string{}
	for i := range list.Items {
		for _, v := range list.Items[i].Spec.Template.Spec.Volumes {
			if v.HostPath != nil {
				out[list.Items[i].Name] = v.HostPath.Path
			}
		}
	}
	return out
}
