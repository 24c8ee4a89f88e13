package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// Every port of a Service has a name of its own.
func TestPortsOfServices(t *testing.T) {
	in := Input{Name: "c", Namespace: "n"}
	for _, l := range []struct {
		name string
		port int32
	}{{"plain", 9094}, {"9092", 9095}} {
		in.Spec.Kafka.Listeners = append(in.Spec.Kafka.Listeners, kafkav1beta2.Listener{Name: l.name, Port: l.port, Type: kafkav1beta2.ListenerInternal})
	}
	running := []ClientPort{{"tcp-plain", 9092}, {"tcp-plain", 9093}, {"tcp-old", 9093}, {"tcp-old", 9096}, {"tcp-plain", 9094}, {"", 9097}}
	want := []string{"tcp-replication", "tcp-plain", "tcp-9092", "tcp-port-9092", "tcp-9093", "tcp-old", "tcp-9097"}
	var got []string
	for _, p := range New(in).Services(running)[1].Spec.Ports {
		got = append(got, p.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}
