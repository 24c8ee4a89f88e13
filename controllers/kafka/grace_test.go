package kafka

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// A pool whose label was moved is found where it is, and what the status waits for names its nodes.
func TestSpecErrorOfAPoolWhoseLabelMoved(t *testing.T) {
	r := single(t)
	r.settle()
	var pools kafkav1beta2.KafkaNodePoolList
	r.must(r.client.List(t.Context(), &pools, client.InNamespace(r.key.Namespace)))
	pool := &pools.Items[0]
	pool.Labels["strimzi.io/cluster"] = "other"
	r.must(r.client.Update(t.Context(), pool))
	got := message(specErrorOf(r.cluster(), r.snapshot(false)))
	if want := "the label strimzi.io/cluster of KafkaNodePool " + pool.Name + " names other now"; !strings.HasPrefix(got, want) {
		t.Errorf("spec error %q, want %q", got, want)
	}
}
