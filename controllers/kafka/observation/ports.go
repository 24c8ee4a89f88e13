package observation

import (
	"slices"

	"github.com/detent-dev/detent/controllers/kafka/render"
)

// AnyBroker selects every node.
func AnyBroker(*Node) bool { return true }

// ReadyBroker selects nodes with a ready pod.
func ReadyBroker(n *Node) bool { return n.Pod.Ready }

// ClientPorts returns the ports for clients of the selected brokers that run, in the order of the nodes and each once: those that their
// Kafka containers declare, which cannot be edited.
func (v *Snapshot) ClientPorts(of func(*Node) bool) []render.ClientPort {
	var out []render.ClientPort
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.RolesRunning.Broker || !of(n) {
			continue
		}
		pod := Named(v.Objects.Pods, n.PodName)
		if pod == nil {
			continue
		}
		for k := range pod.Spec.Containers {
			if pod.Spec.Containers[k].Name != containerKafka {
				continue
			}
			for _, p := range pod.Spec.Containers[k].Ports {
				port := render.ClientPort{Name: p.Name, Port: p.ContainerPort}
				if port.Port != render.PortControl && port.Port != render.PortReplication && !slices.Contains(out, port) {
					out = append(out, port)
				}
			}
		}
	}
	return out
}
