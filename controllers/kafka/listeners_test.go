package kafka

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// listen declares the listener plain on a port.
func listen(port int32) func(*kafkav1beta2.Kafka) {
	return func(k *kafkav1beta2.Kafka) {
		k.Spec.Kafka.Listeners = []kafkav1beta2.Listener{{Name: "plain", Port: port, Type: kafkav1beta2.ListenerInternal}}
	}
}

// clientPorts are the ports of the bootstrap Service by name, without the one between brokers.
func (w *world) clientPorts() map[string]int32 {
	w.t.Helper()
	s := &corev1.Service{}
	w.must(w.get(s, "my-cluster-kafka-bootstrap"))
	out := map[string]int32{}
	for _, p := range s.Spec.Ports {
		if p.Name != "tcp-replication" {
			out[p.Name] = p.Port
		}
	}
	return out
}

// Clients connect to the ports on which the brokers listen, also while a changed spec waits.
func TestServicesKeepAPortUntilNoBrokerListensOnIt(t *testing.T) {
	for name, tc := range map[string]struct {
		change        func(*kafkav1beta2.Kafka)
		waiting, done map[string]int32
		shown, after  []string
	}{
		"a listener gets another port": {
			change: listen(9099), waiting: map[string]int32{"tcp-plain": 9099, "tcp-9092": 9092}, done: map[string]int32{"tcp-plain": 9099},
			shown: []string{"plain my-cluster-kafka-bootstrap.default.svc:9092"}, after: []string{"plain my-cluster-kafka-bootstrap.default.svc:9099"},
		},
		"a listener gets another name": {
			change:  func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Listeners[0].Name = "open" },
			waiting: map[string]int32{"tcp-open": 9092}, done: map[string]int32{"tcp-open": 9092},
			shown: []string{"open my-cluster-kafka-bootstrap.default.svc:9092"}, after: []string{"open my-cluster-kafka-bootstrap.default.svc:9092"},
		},
		"a listener is removed": {
			change:  func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Listeners = nil },
			waiting: map[string]int32{"tcp-plain": 9092}, done: map[string]int32{},
		},
		"a listener is added": {
			change: func(k *kafkav1beta2.Kafka) {
				k.Spec.Kafka.Listeners = append(k.Spec.Kafka.Listeners, kafkav1beta2.Listener{Name: "more", Port: 9099, Type: kafkav1beta2.ListenerInternal})
			},
			waiting: map[string]int32{"tcp-plain": 9092, "tcp-more": 9099}, done: map[string]int32{"tcp-plain": 9092, "tcp-more": 9099},
			shown: []string{"plain my-cluster-kafka-bootstrap.default.svc:9092"},
			after: []string{"plain my-cluster-kafka-bootstrap.default.svc:9092", "more my-cluster-kafka-bootstrap.default.svc:9099"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, listen(9092), declaredPool("controllers", 1, roleController), declaredPool("brokers", 2, roleBroker))
			w.unsupported(true)
			k := w.cluster()
			tc.change(k)
			w.must(w.client.Update(t.Context(), k))
			w.run(10)
			w.compare("while the spec is refused", tc.waiting, tc.shown)
			w.unsupported(false)
			w.run(60)
			w.compare("after the roll", tc.done, tc.after)
		})
	}
}

func (w *world) compare(when string, ports map[string]int32, shown []string) {
	w.t.Helper()
	if diff := cmp.Diff(ports, w.clientPorts()); diff != "" {
		w.t.Errorf("ports of the Service %s (-want +got):\n%s", when, diff)
	}
	var got []string
	for _, l := range w.cluster().Status.Listeners {
		got = append(got, l.Name+" "+l.BootstrapServers)
	}
	if !slices.Equal(got, shown) {
		w.t.Errorf("listeners in the status %s: %v, want %v", when, got, shown)
	}
}
