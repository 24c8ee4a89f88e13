package ceph_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// TestKindAsksAnOlderMonitorAboutKeys asks a monitor of release 14 while monitors of 16 run beside it: these never answer about keys while
// one of 14 leads, which is the last that changes.
func TestKindAsksAnOlderMonitorAboutKeys(t *testing.T) {
	whichever, monA := cephclient.Daemon{}, cephclient.Daemon{Type: cephclient.TypeMon, ID: "a"}
	for name, tc := range map[string]struct {
		from, to string
		want     []cephclient.Daemon
	}{
		"14 to 16": {from: "14", to: "16", want: []cephclient.Daemon{whichever, monA, whichever}},
		"16 to 18": {from: "16", to: "18", want: []cephclient.Daemon{whichever}},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, tc.from)
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:" + tc.to })
			r.step()
			r.until("the upgrade", 15*time.Minute, r.settled(tc.to))
			if diff := cmp.Diff(tc.want, slices.Compact(r.keysFrom)); diff != "" {
				t.Errorf("asked about keys (-want +got):\n%s", diff)
			}
		})
	}
}

// TestKindKeepsTheRestOfAClusterWithoutAHost says why another monitor has no host, while everything else goes on.
func TestKindKeepsTheRestOfAClusterWithoutAHost(t *testing.T) {
	const want = "placing mon.d: 3 hosts can have a monitor, and each has one: add hosts, or set spec.mon.allowMultiplePerNode to true"
	r := launched(t, "16")
	r.edit(func(c *cephv1.Cluster) { c.Spec.Mon.Count = 5 })
	r.until("the reason", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), want) })
	r.deleteKeys()
	r.until("the keys", 2*time.Minute, func() bool { return len(r.secret()) > 0 })
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the upgrade", 15*time.Minute, func() bool { return r.entry().State == cephupgrade.Settled && r.versions()["mds"] == "18" })
	if text := r.message(lifecycle.Ready); !strings.Contains(text, want) {
		t.Errorf("shown after the upgrade: %q", text)
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.Mon.AllowMultiplePerNode = true })
	r.until("the monitors", 10*time.Minute, func() bool { return r.settled("18")() && r.get().Status.Ceph.Components[0].Total == 5 })
}

// TestKindSaysWhyNoHostCanHaveAMonitor names what excludes each host, and launches the cluster once one is available.
func TestKindSaysWhyNoHostCanHaveAMonitor(t *testing.T) {
	taint := corev1.Taint{Key: "storage", Effect: corev1.TaintEffectNoSchedule}
	for name, tc := range map[string]struct {
		place cephv1.Placement
		nodes func(i int, n *corev1.Node)
		want  string
	}{
		"a selector that matches none": {
			place: cephv1.Placement{NodeSelector: map[string]string{"disk": "ssd"}}, nodes: func(int, *corev1.Node) {},
			want: "excluded by the nodeSelector of spec.placement.mon: node-1, node-2, node-3",
		},
		"several reasons": {
			nodes: func(i int, n *corev1.Node) {
				n.Spec.Unschedulable = i == 0
				if n.Spec.Taints = []corev1.Taint{taint}; i == 1 {
					n.Status.Conditions[0].Status = corev1.ConditionUnknown
				}
			},
			want: "cordoned: node-1; excluded by taints that spec.placement.mon does not tolerate: node-3; not ready: node-2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster("ceph:16")
			c.Spec.Mon.AllowMultiplePerNode, c.Spec.Placement = true, map[string]cephv1.Placement{"mon": tc.place}
			r := newRig(t, c)
			var nodes corev1.NodeList
			r.must(r.client.List(t.Context(), &nodes))
			for i := range nodes.Items {
				tc.nodes(i, &nodes.Items[i])
				status := nodes.Items[i].Status
				r.must(r.client.Update(t.Context(), &nodes.Items[i]))
				nodes.Items[i].Status = status
				r.must(r.client.Status().Update(t.Context(), &nodes.Items[i]))
			}
			want := "placing mon.a: no host can have a monitor (" + tc.want + "): correct spec.placement, or make a host available"
			r.until("the reason", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), want) })
			r.edit(func(c *cephv1.Cluster) {
				c.Spec.Placement["mon"] = cephv1.Placement{Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}
			})
			r.until("the launch", 5*time.Minute, r.settled("16"))
		})
	}
}
