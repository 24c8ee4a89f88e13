package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/transitions"
)

func TestForeignBrokers(t *testing.T) {
	brokers := func(reported bool, all ...kafkaclient.Broker) transitions.Fact[kafkaclient.Brokers] {
		return transitions.Known(kafkaclient.Brokers{FencingReported: reported, Brokers: all}, time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC))
	}
	broker := func(id int32, fencing kafkaclient.Fencing) kafkaclient.Broker {
		return kafkaclient.Broker{ID: id, Host: "10.0.0.9", Port: 9092, Fencing: fencing}
	}
	const want = "registered and alive, and no node of this cluster: broker 9 at 10.0.0.9:9092. It is not unregistered: stop its process"
	for name, tc := range map[string]struct {
		brokers transitions.Fact[kafkaclient.Brokers]
		want    string
	}{
		"alive": {brokers: brokers(true, broker(1, kafkaclient.Unfenced), broker(9, kafkaclient.Unfenced)), want: want},
		"listed by a Kafka that lists none fenced": {brokers: brokers(false, broker(1, kafkaclient.FencingUnknown), broker(9, kafkaclient.FencingUnknown)), want: want},
		"fenced":                 {brokers: brokers(true, broker(1, kafkaclient.Unfenced), broker(9, kafkaclient.Fenced))},
		"a node of the cluster":  {brokers: brokers(true, broker(1, kafkaclient.Unfenced))},
		"Kafka has not answered": {},
	} {
		t.Run(name, func(t *testing.T) {
			v := &observation.Snapshot{Nodes: []observation.Node{{ID: 1}}, Brokers: tc.brokers}
			if diff := cmp.Diff(tc.want, message(foreignBrokers(v))); diff != "" {
				t.Errorf("warning (-want +got):\n%s", diff)
			}
		})
	}
}
