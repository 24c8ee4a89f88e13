package ceph_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/controllers/ceph/status"
	"github.com/detent-dev/detent/controllers/labels"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// lose removes the data of daemons, and their pods.
func (r *rig) lose(names ...cephclient.Daemon) {
	r.t.Helper()
	r.world.Empty = map[cephclient.Daemon]bool{}
	var all corev1.PodList
	r.must(r.client.List(context.Background(), &all, client.InNamespace(r.key().Namespace)))
	for _, d := range names {
		r.world.Empty[d] = true
		for i := range all.Items {
			if of, _ := render.DaemonOf(all.Items[i].Labels); of == d {
				r.must(r.client.Delete(context.Background(), &all.Items[i]))
			}
		}
	}
	r.ceph.Do(func(c *simulated.Cluster) {
		for _, d := range names {
			c.Stop(d)
		}
	})
}

// TestKindKeepsTheHostOfAnOSD records the node on which an OSD on a volume claim first served, and keeps it when its pod starts elsewhere.
func TestKindKeepsTheHostOfAnOSD(t *testing.T) {
	r := launched(t, "16")
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "0"}
	want := map[string]string{"osd.0": "simulated", "osd.1": "simulated", "osd.2": ""} // the last one is on a directory of node-1
	hosts := func() map[string]string {
		out := map[string]string{}
		for _, d := range r.record().Of(cephclient.TypeOSD) {
			out[d.String()] = r.record().Daemons[d.String()].CrushHost
		}
		return out
	}
	r.until("the hosts", time.Minute, func() bool { return cmp.Equal(want, hosts()) })
	r.world.Node = "elsewhere"
	r.lose(osd)
	delete(r.world.Empty, osd)
	r.until("the new pod", time.Minute, func() bool { return len(r.world.Started) == 1 && r.settled("16")() })
	for range 15 {
		r.step()
	}
	if diff := cmp.Diff(want, hosts()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// TestKindMovesAnOSDToAnotherHost in CRUSH once that is approved with the value that the Warning shows.
func TestKindMovesAnOSDToAnotherHost(t *testing.T) {
	c := cluster("ceph:16")
	c.Spec.Storage.VolumeClaims[0].Count, c.Spec.Storage.Nodes = 3, nil
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	r.world.Node = "node-2"
	r.lose(cephclient.Daemon{Type: cephclient.TypeOSD, ID: "0"})
	r.world.Empty = nil
	r.until("the Warning", 5*time.Minute, func() bool { return r.settled("16")() && r.warning(status.CrushHostShared) != "" })
	if got := r.record().Daemons["osd.0"].CrushHost; got != "simulated" {
		t.Fatalf("moved to %s without an approval", got)
	}
	shown := r.warning(status.CrushHostShared)
	r.ceph.Do(func(c *simulated.Cluster) { c.Unreachable = true })
	r.until("Ceph cannot be read", time.Minute, func() bool { return r.condition(lifecycle.Ready) != "True" })
	for range 30 {
		r.step()
	}
	if diff := cmp.Diff(shown, r.warning(status.CrushHostShared)); diff != "" {
		t.Errorf("the Warning while Ceph cannot be read (-want +got):\n%s", diff)
	}
	r.ceph.Do(func(c *simulated.Cluster) { c.Unreachable = false })
	r.until("Ceph", 5*time.Minute, r.settled("16"))
	_, value, _ := strings.Cut(shown, labels.Approve+"=")
	value, _, _ = strings.Cut(value, ",")
	r.approve(value)
	r.until("the move", time.Minute, func() bool {
		moves := strings.HasPrefix(r.warning(status.CrushHostShared), "osd.0 moves to the host node-2 of CRUSH, with its data, when its pod starts next: delete the pod ")
		return r.record().Daemons["osd.0"].CrushHost == "node-2" && r.record().Daemons["osd.1"].CrushHost == "simulated" && moves
	})
	r.lose(cephclient.Daemon{Type: cephclient.TypeOSD, ID: "0"})
	r.world.Empty = nil
	r.until("the restart", 5*time.Minute, func() bool { return r.settled("16")() && r.warning(status.CrushHostShared) == "" })
}

// lost returns the Warning about lost data; empty if there is none.
func (r *rig) lost() string {
	for _, c := range r.get().Status.Conditions {
		if c.Type == lifecycle.Warning && c.Reason == status.StorageLost {
			return c.Message
		}
	}
	return ""
}

func (r *rig) approve(value string) {
	r.t.Helper()
	r.edit(func(c *cephv1.Cluster) { c.Annotations = map[string]string{labels.Approve: value} })
}

// stays fails if lost data is made again within a minute.
func (r *rig) stays(why string, names ...cephclient.Daemon) {
	r.t.Helper()
	for range 60 {
		r.step()
	}
	for _, d := range names {
		if one := r.record().Daemons[d.String()]; one.Format != record.FormatDone || !r.world.Empty[d] {
			r.t.Fatalf("%s: the data of %s is made again: %+v", why, d, one)
		}
	}
}

func mon(id string) cephclient.Daemon { return cephclient.Daemon{Type: cephclient.TypeMon, ID: id} }

// TestKindMakesTheDataOfAMonitorAgain makes it again once for each approval, and the monitor joins the others.
func TestKindMakesTheDataOfAMonitorAgain(t *testing.T) {
	r := launched(t, "16")
	r.lose(mon("b"))
	r.until("the loss", time.Minute, func() bool { return r.lost() != "" })
	r.stays("not approved", mon("b"))
	node := r.record().Daemons["mon.b"].Node
	for _, want := range []string{
		"mon.b has lost its data: nothing is left in the directory /var/lib/rook/rook-ceph_rook-ceph/mon-b on simulated",
		"kubectl annotate clusters.ceph.rook.io rook-ceph -n rook-ceph --overwrite detent.dev/approve=format-storage=mon.b/1",
	} {
		if want = strings.ReplaceAll(want, "simulated", node); !strings.Contains(r.lost(), want) {
			t.Errorf("shown %q, want %q", r.lost(), want)
		}
	}
	if ready := r.reason(lifecycle.Ready); ready != status.StorageLost {
		t.Errorf("Ready has the reason %s", ready)
	}
	r.approve("format-storage=mon.b/2")
	r.stays("approved for another loss", mon("b"))
	r.approve("format-storage=mon.b/1")
	r.until("the monitor", 2*time.Minute, func() bool {
		one := r.record().Daemons["mon.b"]
		return r.settled("16")() && r.lost() == "" && one.Format == record.FormatDone && one.Remade == 1
	})
	r.lose(mon("b"))
	r.until("the second loss", time.Minute, func() bool { return strings.Contains(r.lost(), "format-storage=mon.b/2") })
	r.stays("approved for the first loss", mon("b"))
}

// TestKindMovesAMonitorWhoseHostIsGone makes a monitor on another host once that is approved and there is one. Until then it keeps its host,
// which may come back.
func TestKindMovesAMonitorWhoseHostIsGone(t *testing.T) {
	c := cluster("ceph:16")
	c.Spec.Mon.AllowMultiplePerNode = false
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	gone := r.record().Daemons["mon.b"].Node
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: gone}}
	r.must(r.client.Delete(t.Context(), node))
	r.world.Unscheduled = func(p *corev1.Pod) bool { return p.Spec.NodeName == gone }
	r.lose(mon("b"))
	want := "mon.b cannot run: the host " + gone + " does not exist any more, which has its data in the directory /var/lib/rook/rook-ceph_rook-ceph/mon-b on " + gone +
		". Bring it back with its data; or, if it is gone for good, approve to make the data again on another host, from the other monitors: " +
		"kubectl annotate clusters.ceph.rook.io rook-ceph -n rook-ceph --overwrite detent.dev/approve=format-storage=mon.b/1"
	r.until("the loss", time.Minute, func() bool { return r.lost() == want })
	r.stays("not approved", mon("b"))
	r.approve("format-storage=mon.b/1")
	r.until("the reason", time.Minute, func() bool {
		return strings.Contains(r.message(lifecycle.Ready), "placing mon.b: 2 hosts can have a monitor")
	})
	r.stays("no other host", mon("b"))

	r.node("node-4")
	r.until("the monitor", 3*time.Minute, func() bool {
		one := r.record().Daemons["mon.b"]
		return r.settled("16")() && r.lost() == "" && one.Node == "node-4" && one.Format == record.FormatDone && one.Remade == 1
	})
	r.clean()
}

// TestKindFoundsNoClusterOfEmptyMonitors makes nothing again while the monitors with data are no quorum, whatever is approved.
func TestKindFoundsNoClusterOfEmptyMonitors(t *testing.T) {
	r := launched(t, "16")
	r.lose(mon("a"), mon("b"))
	r.approve("format-storage=mon.a/1")
	r.until("the loss", time.Minute, func() bool {
		return strings.Contains(r.lost(), "only against a quorum of them, and Ceph does not answer")
	})
	r.stays("without a quorum", mon("a"), mon("b"))
}

// TestKindShowsTheLossOfAnOSD names the way out.
func TestKindShowsTheLossOfAnOSD(t *testing.T) {
	r := launched(t, "16")
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "0"}
	r.lose(osd)
	want := "osd.0 on simulated has lost its data: nothing is left in the volume claim rook-ceph-osd-set-0. " +
		"Bring it back with its data; or, if it is gone for good, remove the OSD with ceph osd purge 0 --yes-i-really-mean-it"
	r.until("the loss", time.Minute, func() bool { return strings.Contains(r.lost(), want) })
	r.approve("format-storage=osd.0/1")
	r.stays("an OSD", osd)
}

func (r *rig) reason(kind string) string {
	for _, c := range r.get().Status.Conditions {
		if c.Type == kind {
			return c.Reason
		}
	}
	return ""
}

// TestKindMovesAMonitorThatNeverServed makes a new monitor elsewhere whose host goes before it serves: by itself if it was not launched yet, and
// once that is approved if it was.
func TestKindMovesAMonitorThatNeverServed(t *testing.T) {
	c := cluster("ceph:16")
	c.Spec.Mon.AllowMultiplePerNode = false
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	r.node("node-4")
	r.node("node-5")
	r.world.Unscheduled = func(p *corev1.Pod) bool { return p.Labels["ceph_daemon_id"] == "d" }
	r.edit(func(c *cephv1.Cluster) { c.Spec.Mon.Count = 5 })
	r.until("the launch of the first", 5*time.Minute, func() bool { return r.record().Daemons["mon.d"].Reference != "" && r.deployment(mon("d")) })
	for _, name := range []string{"node-4", "node-5"} {
		r.must(r.client.Delete(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	r.node("node-6")
	want := "mon.d cannot run: the host node-4, on which it was launched, does not exist any more. Bring it back; or, if it is gone for good, " +
		"approve to make the data again on another host, from the other monitors: " +
		"kubectl annotate clusters.ceph.rook.io rook-ceph -n rook-ceph --overwrite detent.dev/approve=format-storage=mon.d/1"
	r.until("the loss", time.Minute, func() bool { return r.lost() == want && r.record().Daemons["mon.e"].Node == "node-6" })
	r.world.Unscheduled = func(p *corev1.Pod) bool { return p.Spec.NodeName == "node-4" }
	for range 20 {
		r.step()
	}
	if got := r.record().Daemons["mon.d"].Node; got != "node-4" {
		t.Errorf("host before the approval: got %s, want node-4", got)
	}
	r.node("node-7")
	r.approve("format-storage=mon.d/1")
	r.until("the monitors", 5*time.Minute, func() bool {
		d, e := r.record().Daemons["mon.d"], r.record().Daemons["mon.e"]
		return r.settled("16")() && r.lost() == "" && d.Node == "node-7" && d.Format == record.FormatDone && e.Node == "node-6" && e.Format == record.FormatDone
	})
}

// node adds a node that is ready.
func (r *rig) node(name string) {
	r.t.Helper()
	r.must(r.client.Create(context.Background(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}))
}
