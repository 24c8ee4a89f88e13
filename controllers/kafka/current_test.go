package kafka

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// without removes the entry of a pod from the StrimziPodSet of the brokers.
func (r *rig) without(pod string) {
	r.t.Helper()
	set := &corev1beta2.StrimziPodSet{}
	r.must(r.get(set, "my-cluster-broker"))
	set.Spec.Pods = slices.DeleteFunc(set.Spec.Pods, func(e corev1beta2.PodEntry) bool {
		p, err := e.Pod()
		return err == nil && p.Name == pod
	})
	set.Generation++
	r.must(r.client.Update(r.t.Context(), set))
}

// What is lost of a node is restored, unless what decides whether the node exists is newer than the caches: the node may have been removed.
func TestRepairRestoresNothingFromAStaleCache(t *testing.T) {
	unchanged := func(*rig) {}
	lostConfig := func(r *rig) { r.remove(&corev1.ConfigMap{}, podLeaving) }
	for name, tc := range map[string]struct {
		lost, since func(*rig)
		want        []string
	}{
		"a configuration":                         {lostConfig, unchanged, []string{"create ConfigMap " + podLeaving}},
		"a configuration, and the pool is newer":  {lostConfig, func(r *rig) { r.scale("broker", 2) }, nil},
		"a configuration, and the entry is gone":  {lostConfig, func(r *rig) { r.without(podLeaving) }, nil},
		"a configuration, and the pod is gone":    {lostConfig, func(r *rig) { r.remove(&corev1.Pod{}, podLeaving) }, nil},
		"a configuration, and the record is gone": {lostConfig, func(r *rig) { r.remove(&corev1.ConfigMap{}, record.Name(podLeaving)) }, nil},
		"a configuration, and the pool is of another cluster": {lostConfig, func(r *rig) {
			pool := &kafkav1beta2.KafkaNodePool{}
			r.must(r.get(pool, "broker"))
			pool.Labels[labels.Cluster] = "other"
			r.must(r.client.Update(r.t.Context(), pool))
		}, nil},
		"a configuration, and the pool is another": {lostConfig, func(r *rig) {
			pool := &kafkav1beta2.KafkaNodePool{}
			r.must(r.get(pool, "broker"))
			r.must(r.client.Delete(r.t.Context(), pool))
			pool.ResourceVersion, pool.UID = "", "another"
			r.must(r.client.Create(r.t.Context(), pool))
		}, nil},
		"an entry": {func(r *rig) { r.without(podLeaving) }, unchanged, []string{"update StrimziPodSet my-cluster-broker"}},
		"an entry, and the record says that the node is stopped": {func(r *rig) { r.without(podLeaving) }, func(r *rig) {
			m := &corev1.ConfigMap{}
			r.must(r.get(m, record.Name(podLeaving)))
			m.Data["stop"] = "true"
			r.must(r.client.Update(r.t.Context(), m))
		}, nil},
		"a record":                      {func(r *rig) { r.remove(&corev1.ConfigMap{}, record.Name(podLeaving)) }, unchanged, []string{"create ConfigMap " + record.Name(podLeaving)}},
		"a record, and the pod is gone": {func(r *rig) { r.remove(&corev1.ConfigMap{}, record.Name(podLeaving)) }, func(r *rig) { r.remove(&corev1.Pod{}, podLeaving) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := running(t)
			tc.lost(r)
			k, v := r.cluster(), r.snapshot(false)
			tc.since(r)
			r.written()
			err := r.effects.Repair(t.Context(), k, v, r.children.Writer(k, nil))
			if stale := errors.Is(err, lifecycle.ErrStale); stale != (len(tc.want) == 0) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tc.want, r.written()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// A node that was removed since is not created on the id that an old status of its pool lists.
func TestApplyCreatesNoNodeFromAStaleCache(t *testing.T) {
	r := running(t)
	r.scale("broker", 4)
	r.fail = func(write string) bool { return write == "create ConfigMap "+record.Name("my-cluster-broker-6") }
	for range 5 {
		_ = r.pass() // the record cannot be created yet
	}
	r.fail = nil
	if diff := cmp.Diff([]int32{0, 1, 2, 6}, r.ids("broker")); diff != "" {
		t.Fatalf("ids of the pool (-want +got):\n%s", diff)
	}
	k, v := r.cluster(), r.snapshot(false)
	r.scale("broker", 3)
	r.written()
	if err := r.effects.Apply(t.Context(), k, v, r.children.Writer(k, nil), r.version); !errors.Is(err, lifecycle.ErrStale) {
		t.Errorf("error %v, want %v", err, lifecycle.ErrStale)
	}
	if writes := r.written(); len(writes) > 0 {
		t.Errorf("writes %v", writes)
	}
}

// An object that has lost the labels by which it is observed is named, with what to do: no cache will ever show it.
func TestRepairNamesAnObjectWithoutItsLabels(t *testing.T) {
	for name, o := range map[string]client.Object{record.Name(podLeaving): &corev1.ConfigMap{}, "my-cluster-broker": &corev1beta2.StrimziPodSet{}} {
		t.Run(name, func(t *testing.T) {
			r := running(t)
			r.must(r.get(o, name))
			kept := o.GetLabels()
			delete(kept, labels.Cluster)
			o.SetLabels(kept)
			r.must(r.client.Update(t.Context(), o))
			if err := r.repair(); errors.Is(err, lifecycle.ErrStale) || err == nil || !strings.Contains(err.Error(), "lacks the label strimzi.io/cluster=my-cluster") {
				t.Errorf("error %v, want one that says what to do", err)
			}
		})
	}
}
