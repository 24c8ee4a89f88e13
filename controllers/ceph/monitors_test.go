package ceph_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
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

// TestKindAddsMonitors launches another monitor only while those that serve are in quorum, and one after the other: new ones that are a
// majority of the monitors they know would found a second cluster.
func TestKindAddsMonitors(t *testing.T) {
	for name, tc := range map[string]struct {
		count, want int32
		down        []string
		// unserved means that the first monitors do not start.
		unserved bool
		// launched are the sets of monitors in the configuration, in their order.
		launched []string
	}{
		"to one":                        {count: 1, want: 3, launched: []string{"a", "a b", "a b c"}},
		"to three":                      {count: 3, want: 5, launched: []string{"a b c", "a b c d", "a b c d e"}},
		"to one that is down":           {count: 1, want: 3, down: []string{"a"}, launched: []string{"a"}},
		"to three of which one is down": {count: 3, want: 5, down: []string{"a"}, launched: []string{"a b c", "a b c d", "a b c d e"}},
		"to three without a quorum":     {count: 3, want: 7, down: []string{"a", "b"}, launched: []string{"a b c"}},
		"to one that has not served":    {count: 1, want: 3, unserved: true, launched: []string{"a"}},
		"to three that have not served": {count: 3, want: 7, unserved: true, launched: []string{"a b c"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster("ceph:16")
			c.Spec.Mon = cephv1.MonSpec{Count: tc.count, AllowMultiplePerNode: true}
			r := newRig(t, c)
			launched := r.settled("16")
			if tc.unserved {
				r.world.Broken = func(d cephclient.Daemon, _ string) bool {
					return slices.Contains([]string{"a", "b", "c"}[:tc.count], d.ID)
				}
				launched = func() bool { return r.deployment(mon("a")) }
			}
			r.until("the launch", 10*time.Minute, launched)
			got := []string{r.monmap()}
			for _, id := range tc.down {
				r.scale("rook-ceph-mon-"+id, 0)
			}
			r.until("the loss", time.Minute, func() bool { return len(tc.down) == 0 || r.condition("Ready") != "True" })
			r.edit(func(c *cephv1.Cluster) { c.Spec.Mon.Count = tc.want })
			for range 120 {
				r.step()
				if now := r.monmap(); now != got[len(got)-1] {
					got = append(got, now)
				}
				for _, m := range []string{"a", "b", "c", "d", "e", "f", "g"} {
					if r.deployment(cephclient.Daemon{Type: cephclient.TypeMon, ID: m}) && !slices.Contains(strings.Fields(got[len(got)-1]), m) {
						t.Fatalf("mon.%s is created without being in the configuration: %q", m, got[len(got)-1])
					}
				}
			}
			if diff := cmp.Diff(tc.launched, got); diff != "" {
				t.Errorf("launched (-want +got):\n%s", diff)
			}
		})
	}
}

// monmap returns the ids of the monitors in the configuration.
func (r *rig) monmap() string {
	r.t.Helper()
	var m corev1.ConfigMap
	r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: r.key().Namespace, Name: render.ConfigName(r.key().Name)}, &m))
	var ids []string
	args := strings.Fields(m.Data["monmap"])
	for i := 0; i+1 < len(args); i += 3 {
		ids = append(ids, args[i+1])
	}
	return strings.Join(ids, " ")
}
