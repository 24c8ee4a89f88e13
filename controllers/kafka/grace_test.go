package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// A Kafka is often created a moment before its pools: they are waited for, and missed only after a while.
func TestSpecErrorOfPoolsAppliedAfterTheirKafka(t *testing.T) {
	const (
		none = "no KafkaNodePool carries the label strimzi.io/cluster with this cluster's name: create at least one with the role controller and one with the role broker"
		lone = "no KafkaNodePool with replicas has the role controller: add it to a pool, or create one"
		till = ". This is waited for until 2026-11-20T12:00:30Z"
	)
	broker := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: kafkav1beta2.KafkaNodePoolSpec{Replicas: 1, Roles: []kafkav1beta2.NodeRole{kafkav1beta2.RoleBroker}}}
	for name, tc := range map[string]struct {
		age                       time.Duration
		pools                     []*kafkav1beta2.KafkaNodePool
		change                    func(*kafkav1beta2.Kafka, *observation.Snapshot)
		wantSpecError, incomplete string
	}{
		"just created":                 {incomplete: none + till},
		"a role is still missing":      {age: 29 * time.Second, pools: []*kafkav1beta2.KafkaNodePool{broker}, incomplete: lone + till},
		"the time is over":             {age: 30 * time.Second, wantSpecError: none},
		"a role is missing after that": {age: time.Hour, pools: []*kafkav1beta2.KafkaNodePool{broker}, wantSpecError: lone},
		"a cluster that ran lost its pools": {
			change: func(k *kafkav1beta2.Kafka, _ *observation.Snapshot) { k.Status.KafkaVersion = "4.1.1" }, wantSpecError: none,
		},
		"something else is wrong, which no pool mends": {
			change: func(_ *kafkav1beta2.Kafka, v *observation.Snapshot) {
				v.Identity.Mismatch = transitions.Problemf("ClusterIDMismatch", "two ids")
			}, wantSpecError: "two ids",
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Name: "c", CreationTimestamp: metav1.NewTime(noon)}}
			v := &observation.Snapshot{Now: noon.Add(tc.age), Objects: observation.Objects{Pools: tc.pools}}
			if tc.change != nil {
				tc.change(k, v)
			}
			if diff := cmp.Diff([]string{tc.wantSpecError, tc.incomplete}, []string{message(specError(k, v)), message(incomplete(k, v))}); diff != "" {
				t.Errorf("spec error and what is waited for (-want +got):\n%s", diff)
			}
		})
	}
}

// A pool whose label was moved is found where it is, and what the status waits for names its nodes.
func TestSpecErrorOfAPoolWhoseLabelMoved(t *testing.T) {
	r := single(t)
	r.settle()
	var pools kafkav1beta2.KafkaNodePoolList
	r.must(r.client.List(t.Context(), &pools, client.InNamespace(r.key.Namespace)))
	pool := &pools.Items[0]
	pool.Labels["strimzi.io/cluster"] = "other"
	r.must(r.client.Update(t.Context(), pool))
	got := message(contradiction(r.cluster(), r.snapshot(false)))
	if want := "the label strimzi.io/cluster of KafkaNodePool " + pool.Name + " names other now"; !strings.HasPrefix(got, want) {
		t.Errorf("spec error %q, want %q", got, want)
	}
}

func TestVersionSettledNamesNodes(t *testing.T) {
	v := &observation.Snapshot{Nodes: []observation.Node{
		{PodName: "c-b-0", Wanted: true, Pod: observation.Pod{Exists: true, Ready: true, Version: "4.1.1"}},
		{PodName: "c-b-1", Wanted: true, Pod: observation.Pod{Exists: true, Ready: true, Version: "4.0.0"}},
		{PodName: "c-b-2", Wanted: true},
		{PodName: "c-b-3"},
	}}
	if got := notOnVersion(v, "4.1.1"); got != "c-b-1, c-b-2" {
		t.Errorf("not on the version: %s", got)
	}
}
