package simulator

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/simulator/kafka"
)

// Suffixes of the names of a cluster's Services. Source: Strimzi.
const (
	brokersSuffix   = "-kafka-brokers"
	bootstrapSuffix = "-kafka-bootstrap"
)

// controlPort is the port of every controller's listener. Source: Strimzi.
const controlPort = "9090"

// DialContext connects to a simulated node by its names within a cluster: the name of its pod, and of the bootstrap Service. Port
// 9090 of a pod is its controller's listener, every other port its broker's. It refuses every other name, so that no connection
// leaves this machine.
func (w *World) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	target, err := w.resolve(address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	var d net.Dialer
	return d.DialContext(ctx, network, target)
}

// resolve returns the loopback address for a name within the cluster.
func (w *World) resolve(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("address %q is not host:port: %w", address, err)
	}
	pod, service, namespace, ok := splitHost(host)
	if !ok {
		return "", fmt.Errorf("no such host: %s is neither pod.service.namespace.svc nor service.namespace.svc", host)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if cluster, found := strings.CutSuffix(service, brokersSuffix); found && pod != "" {
		name := types.NamespacedName{Namespace: namespace, Name: cluster}
		return w.node(name, pod, port == controlPort)
	}
	if cluster, found := strings.CutSuffix(service, bootstrapSuffix); found && pod == "" {
		return w.anyBroker(types.NamespacedName{Namespace: namespace, Name: cluster})
	}
	return "", fmt.Errorf("no such host: %s", host)
}

// splitHost splits the name of a Service, or of a pod of one, into its parts.
func splitHost(host string) (pod, service, namespace string, ok bool) {
	host = strings.TrimSuffix(strings.TrimSuffix(host, ".cluster.local"), ".svc")
	parts := strings.Split(host, ".")
	switch len(parts) {
	case 2:
		return "", parts[0], parts[1], true
	case 3:
		return parts[0], parts[1], parts[2], true
	default:
		return "", "", "", false
	}
}

// node returns the address of one of the two listeners of the pod's node. The pod's name ends in the id of its node.
func (w *World) node(cluster types.NamespacedName, pod string, controller bool) (string, error) {
	server := w.servers[cluster]
	id, err := strconv.ParseInt(pod[strings.LastIndexByte(pod, '-')+1:], 10, 32)
	if _, exists := w.state.pods.Find(types.NamespacedName{Namespace: cluster.Namespace, Name: pod}); server == nil || err != nil || !exists {
		return "", fmt.Errorf("no such host: there is no pod %s/%s", cluster.Namespace, pod)
	}
	if controller {
		return listening(server.ControllerAddr(int32(id)), pod)
	}
	return listening(server.Addr(int32(id)), pod)
}

// anyBroker selects the brokers that answer in turn, as a Service does.
func (w *World) anyBroker(cluster types.NamespacedName) (string, error) {
	server := w.servers[cluster]
	if server == nil {
		return "", fmt.Errorf("no such host: there is no Kafka %s", cluster)
	}
	var ids []int32
	err := server.Do(func(c *kafka.Cluster) {
		for i := range c.Nodes {
			if c.Answers(c.Nodes[i].ID) {
				ids = append(ids, c.Nodes[i].ID)
			}
		}
	})
	if err != nil || len(ids) == 0 {
		return "", fmt.Errorf("connection refused: no broker of %s is ready", cluster)
	}
	w.turn[cluster]++
	return listening(server.Addr(ids[w.turn[cluster]%len(ids)]), "a broker of "+cluster.String())
}

func listening(address, what string) (string, error) {
	if address == "" {
		return "", fmt.Errorf("connection refused: %s does not listen", what)
	}
	return address, nil
}
