package ceph_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// TestKindBudgetsEvictions has a PodDisruptionBudget for the daemons of each type that the spec declares, also after one was deleted.
func TestKindBudgetsEvictions(t *testing.T) {
	c := cluster("ceph:16")
	c.Spec.ObjectStores = nil
	r := newRig(t, c)
	budgets := func() (names []string) {
		var list policyv1.PodDisruptionBudgetList
		r.must(r.client.List(context.Background(), &list))
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		return names
	}
	r.until("the launch", 5*time.Minute, r.settled("16"))
	want := []string{"rook-ceph-mds", "rook-ceph-mgr", "rook-ceph-mon", "rook-ceph-osd"}
	if diff := cmp.Diff(want, budgets()); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
	r.must(r.client.Delete(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "rook-ceph-mon"}}))
	r.edit(func(c *cephv1.Cluster) {
		c.Spec.ObjectStores = append(c.Spec.ObjectStores, cephv1.ObjectStoreSpec{Name: "store", Instances: 1, Port: 8080})
	})
	want = slices.Insert(want, 4, "rook-ceph-rgw")
	r.until("the other budgets", time.Minute, func() bool { return cmp.Equal(want, budgets()) })
}

// TestKindAppliesTheOtherBudgets while one cannot be applied: it is refused, or one of its name is being deleted.
func TestKindAppliesTheOtherBudgets(t *testing.T) {
	for name, spoil := range map[string]func(*rig, *policyv1.PodDisruptionBudget){
		"of another owner": func(r *rig, b *policyv1.PodDisruptionBudget) {
			b.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "other", Controller: new(true)}}
			r.must(r.client.Update(t.Context(), b))
		},
		"being deleted": func(r *rig, b *policyv1.PodDisruptionBudget) {
			b.Finalizers = []string{"example.com/kept"}
			r.must(r.client.Update(t.Context(), b))
			r.must(r.client.Delete(t.Context(), b))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			b := &policyv1.PodDisruptionBudget{}
			r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-mon"}, b))
			spoil(r, b)
			r.must(r.client.Delete(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: "rook-ceph-osd"}}))
			r.edit(func(c *cephv1.Cluster) { c.Spec.Storage.VolumeClaims[0].Count = 3 })
			r.until("the budget of OSDs, and another OSD", 2*time.Minute, func() bool {
				err := r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-osd"}, &policyv1.PodDisruptionBudget{})
				return err == nil && r.record().Daemons["osd.3"].Reference != ""
			})
		})
	}
}

// TestKindReplacesABudgetWithAMaximum of an earlier release: the API server refuses a budget with both.
func TestKindReplacesABudgetWithAMaximum(t *testing.T) {
	r := launched(t, "16")
	mon := func() *policyv1.PodDisruptionBudget {
		b := &policyv1.PodDisruptionBudget{}
		r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-mon"}, b))
		return b
	}
	b := mon()
	want := b.DeepCopy().Spec
	b.Spec.MinAvailable, b.Spec.MaxUnavailable, b.Spec.Selector.MatchExpressions = nil, new(intstr.FromInt32(1)), nil
	r.must(r.client.Update(t.Context(), b))
	r.step()
	if diff := cmp.Diff(want, mon().Spec); diff != "" {
		t.Errorf("budget (-want +got):\n%s", diff)
	}
	if want.MinAvailable.IntValue() != 2 {
		t.Errorf("of three monitors %s have to be available", want.MinAvailable)
	}
}

// TestKindLetsAHostWithTwoMonitorsBeDrained lets both be evicted, one after the other, while the other three are a majority.
func TestKindLetsAHostWithTwoMonitorsBeDrained(t *testing.T) {
	c := cluster("ceph:16")
	c.Spec.Mon = cephv1.MonSpec{Count: 5, AllowMultiplePerNode: true}
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	mon := cephclient.Daemon{Type: cephclient.TypeMon, ID: "a"} // on node-1, as mon.d
	node := &corev1.Node{}
	r.must(r.client.Get(t.Context(), client.ObjectKey{Name: "node-1"}, node))
	node.Spec.Unschedulable = true
	r.must(r.client.Update(t.Context(), node))
	r.world.Unscheduled = func(p *corev1.Pod) bool {
		return p.Labels["ceph_daemon_id"] == "a" && p.Labels["ceph_daemon_type"] == "mon"
	}
	r.lose(mon)
	r.world.Empty = nil
	r.until("a budget without the host", time.Minute, func() bool {
		var b policyv1.PodDisruptionBudget
		r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: "rook-ceph-mon"}, &b))
		return b.Spec.MinAvailable.IntValue() == 3 && cmp.Equal(b.Spec.Selector.MatchExpressions[0].Values, []string{"a", "d"})
	})
}

// TestKindLetsAHostBeDrained lets all OSDs of a host be evicted, and no others, while the host is away: their pods cannot start, and a budget
// that counts them would never let the last one go.
func TestKindLetsAHostBeDrained(t *testing.T) {
	osd := func(id string) cephclient.Daemon { return cephclient.Daemon{Type: cephclient.TypeOSD, ID: id} }
	cordon := func(n *corev1.Node) { n.Spec.Unschedulable = true }
	type budget struct {
		Least   int
		Selects []string
	}
	all, others := budget{3, []string{"0", "1", "2", "3"}}, budget{2, []string{"2", "3"}}
	for name, tc := range map[string]struct {
		node func(*corev1.Node)
		away []cephclient.Daemon
		want budget
	}{
		"one of two, by a drain":         {cordon, []cephclient.Daemon{osd("0")}, others},
		"both, by a drain":               {cordon, []cephclient.Daemon{osd("0"), osd("1")}, others},
		"one, and the host is not ready": {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, []cephclient.Daemon{osd("0")}, others},
		"one, and the host is gone":      {nil, []cephclient.Daemon{osd("0")}, others},
		"one, of a host that can run it": {func(*corev1.Node) {}, []cephclient.Daemon{osd("0")}, all},
		"none yet":                       {cordon, nil, all},
		"one, and one of another host":   {cordon, []cephclient.Daemon{osd("0"), osd("2")}, all},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster("ceph:16")
			c.Spec.Storage = cephv1.StorageSpec{Nodes: []cephv1.NodeStorage{
				{Name: "node-1", Directories: []cephv1.Directory{{Path: "/var/lib/osd-a"}, {Path: "/var/lib/osd-b"}}},
				{Name: "node-2", Directories: []cephv1.Directory{{Path: "/var/lib/osd-a"}, {Path: "/var/lib/osd-b"}}},
			}}
			r := newRig(t, c)
			r.until("the launch", 5*time.Minute, r.settled("16"))
			node := &corev1.Node{}
			r.must(r.client.Get(t.Context(), client.ObjectKey{Name: "node-1"}, node))
			if tc.node == nil {
				r.must(r.client.Delete(t.Context(), node))
			} else {
				tc.node(node)
				status := node.Status
				r.must(r.client.Update(t.Context(), node))
				node.Status = status
				r.must(r.client.Status().Update(t.Context(), node))
			}
			got := func() budget {
				var b policyv1.PodDisruptionBudget
				r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: "rook-ceph-osd"}, &b))
				selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
				r.must(err)
				out := budget{Least: b.Spec.MinAvailable.IntValue()}
				for _, id := range []string{"0", "1", "2", "3"} {
					if selector.Matches(labels.Set{"ceph.rook.io/cluster": "rook-ceph", "ceph_daemon_type": "osd", "ceph_daemon_id": id}) {
						out.Selects = append(out.Selects, id)
					}
				}
				return out
			}
			r.world.Unscheduled = func(p *corev1.Pod) bool {
				return slices.ContainsFunc(tc.away, func(d cephclient.Daemon) bool {
					return d.ID == p.Labels["ceph_daemon_id"] && p.Labels["ceph_daemon_type"] == "osd"
				})
			}
			r.lose(tc.away...)
			r.world.Empty = nil
			for range 30 {
				r.step()
			}
			if diff := cmp.Diff(tc.want, got()); diff != "" {
				t.Errorf("the budget while they are away (-want +got):\n%s", diff)
			}
			r.world.Unscheduled = nil
			r.lose(tc.away...)
			r.world.Empty = nil
			r.until("the OSDs", 5*time.Minute, func() bool { return r.settled("16")() && cmp.Equal(all, got()) })
		})
	}
}

// TestKindDrainsBesideAnOSDThatNeverServed leaves an OSD out of the budget that does not start after its launch.
func TestKindDrainsBesideAnOSDThatNeverServed(t *testing.T) {
	r := launched(t, "16")
	budget := func() (of policyv1.PodDisruptionBudget) {
		r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-osd"}, &of))
		return of
	}
	selects := func(id string) bool {
		of := budget()
		selector, err := metav1.LabelSelectorAsSelector(of.Spec.Selector)
		r.must(err)
		return selector.Matches(labels.Set{"ceph.rook.io/cluster": "rook-ceph", "ceph_daemon_type": "osd", "ceph_daemon_id": id})
	}
	r.world.Broken = func(d cephclient.Daemon, _ string) bool {
		return d == cephclient.Daemon{Type: cephclient.TypeOSD, ID: "3"}
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.Storage.VolumeClaims[0].Count = 3 })
	r.until("the launch of the OSD", 5*time.Minute, func() bool { return r.record().Daemons["osd.3"].Reference != "" })
	for range 10 {
		r.step()
	}
	if of := budget(); selects("3") || !selects("0") || of.Spec.MinAvailable.IntValue() != 2 {
		t.Errorf("the budget: %+v", of.Spec)
	}
	r.world.Broken = nil
	r.until("the OSD", 5*time.Minute, func() bool { return r.settled("16")() && selects("3") })
}

// TestKindKeepsTheMajorityOfMonitors lets none of two monitors be evicted while the third one does not join. The budget is not written while Ceph cannot
// be read for a moment.
func TestKindKeepsTheMajorityOfMonitors(t *testing.T) {
	c := cluster("ceph:16")
	c.Spec.Mon = cephv1.MonSpec{Count: 1}
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	budget := func() (of policyv1.PodDisruptionBudget) {
		r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-mon"}, &of))
		return of
	}
	if of := budget(); of.Spec.MinAvailable.IntValue() != 0 {
		t.Errorf("the budget of one monitor: %+v", of.Spec)
	}
	r.world.Broken = func(d cephclient.Daemon, _ string) bool { return d == mon("c") }
	r.edit(func(c *cephv1.Cluster) { c.Spec.Mon.Count = 3 })
	r.until("the launch of the third one", 5*time.Minute, func() bool { return r.record().Daemons["mon.c"].Reference != "" })
	for range 10 {
		r.step()
	}
	before := budget()
	if before.Spec.MinAvailable.IntValue() != 2 || !cmp.Equal(before.Spec.Selector.MatchExpressions[0].Values, []string{"c"}) {
		t.Errorf("the budget of two monitors that have joined: %+v", before.Spec)
	}
	for i := range 60 {
		r.ceph.Do(func(c *simulated.Cluster) { c.Unreachable = i < 30 })
		r.step()
	}
	if after := budget(); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the budget was written: %+v", after.Spec)
	}
	r.world.Broken = nil
	r.until("the third one", 5*time.Minute, func() bool {
		return r.settled("16")() && cmp.Equal(budget().Spec.Selector.MatchExpressions[0].Operator, metav1.LabelSelectorOpExists)
	})
}
