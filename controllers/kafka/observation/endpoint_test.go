package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestEndpointUsesTheRolesOfPods(t *testing.T) {
	k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}
	got := endpointWith(k, []Node{
		{ID: 0, PodName: "c-dual-0", RolesRunning: Roles{Broker: true, Controller: true}},
		{ID: 1, PodName: "c-broker-1", RolesRunning: Roles{Broker: true}, Roles: Roles{Broker: true, Controller: true}},
		{ID: 2, PodName: "c-controller-2", RolesRunning: Roles{Controller: true}},
		{ID: 3, PodName: "c-dual-3", Roles: Roles{Broker: true}},
	}).Nodes
	want := map[int32]kafkaclient.NodeAddress{
		0: {Broker: "c-dual-0.c-kafka-brokers.ns.svc:9091", Controller: "c-dual-0.c-kafka-brokers.ns.svc:9090"},
		1: {Broker: "c-broker-1.c-kafka-brokers.ns.svc:9091"},
		2: {Controller: "c-controller-2.c-kafka-brokers.ns.svc:9090"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
