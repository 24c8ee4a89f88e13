package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// A pool whose label was changed has the status of the cluster that it has left: its ids and its cluster id are not this cluster's.
func TestPoolOfAnotherClusterGetsIDsOfThisOne(t *testing.T) {
	w := started(t, nil, declaredPool("controllers", 3, roleController), declaredPool("brokers", 3, roleBroker))
	w.must(w.client.Create(t.Context(), declaredPool("moved", 3, roleBroker)))
	p := &kafkav1beta2.KafkaNodePool{}
	w.must(w.get(p, "moved"))
	p.Status.NodeIDs, p.Status.ClusterID = []int32{0, 1, 2, 40}, "AAAAAAAAAAAAAAAAAAAAAA"
	p.Status.LabelSelector = "strimzi.io/cluster=other,strimzi.io/kind=Kafka,strimzi.io/name=other-kafka,strimzi.io/pool-name=moved"
	w.must(w.client.Status().Update(t.Context(), p))
	w.run(40)
	if diff := cmp.Diff([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8}, w.nodes("", "")); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	w.must(w.get(p, "moved"))
	if diff := cmp.Diff([]int32{6, 7, 8}, p.Status.NodeIDs); diff != "" {
		t.Errorf("ids of the pool (-want +got):\n%s", diff)
	}
	if want := w.cluster().Status.ClusterID; p.Status.ClusterID != want {
		t.Errorf("cluster id of the pool %q, want %q", p.Status.ClusterID, want)
	}
}
