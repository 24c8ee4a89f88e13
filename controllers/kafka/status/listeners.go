package status

import (
	"fmt"
	"slices"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// listeners returns the declared listeners that at least one ready broker serves: on the declared port, else on the one on which it was
// served before. While no broker is ready it is not known what the next one serves.
func listeners(k *kafkav1beta2.Kafka, v *observation.Snapshot) (out []kafkav1beta2.ListenerStatus, known bool) {
	if observation.CountReady(v).Brokers == 0 {
		return nil, false
	}
	served := v.ClientPorts(observation.ReadyBroker)
	host := fmt.Sprintf("%s.%s.svc", render.BootstrapName(k.Name), k.Namespace)
	for i := range k.Spec.Kafka.Listeners {
		l := &k.Spec.Kafka.Listeners[i]
		port, is := servedPort(served, l)
		if !render.Served(l) || !is {
			continue
		}
		out = append(out, kafkav1beta2.ListenerStatus{
			Name: l.Name, Type: string(l.Type), BootstrapServers: fmt.Sprintf("%s:%d", host, port),
			Addresses: []kafkav1beta2.ListenerAddress{{Host: host, Port: port}},
		})
	}
	return out, true
}

// servedPort returns the port on which the listener is served; false if it is not.
func servedPort(served []render.ClientPort, l *kafkav1beta2.Listener) (int32, bool) {
	if slices.ContainsFunc(served, func(p render.ClientPort) bool { return p.Port == l.Port }) {
		return l.Port, true
	}
	i := slices.IndexFunc(served, func(p render.ClientPort) bool { return p.Name == render.PortName(l) })
	if i < 0 {
		return 0, false
	}
	return served[i].Port, true
}
