package render

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// ClientPort is a port for clients that a pod declares: that of a listener.
type ClientPort struct {
	// Name of the port in the pod.
	Name string
	Port int32
}

// Services renders the headless and the bootstrap Service. They have the ports of the listeners, and those on which running brokers listen
// although the spec does not declare them any more: until the last of them is restarted, their clients connect there.
func (c *Cluster) Services(running []ClientPort) []*corev1.Service {
	undeclared := slices.DeleteFunc(slices.Clone(running), func(p ClientPort) bool {
		return slices.ContainsFunc(c.config.listeners, func(l kafkav1beta2.Listener) bool { return l.Port == p.Port })
	})
	if len(undeclared) > 0 {
		return c.services(undeclared)
	}
	return always(c, part{kind: "services"}, func() []*corev1.Service { return c.services(nil) })
}

// clientPorts returns the ports of both Services. A port whose name a listener has now is named by its number.
func (c *Cluster) clientPorts(undeclared []ClientPort) []corev1.ServicePort {
	ports := []corev1.ServicePort{servicePort("tcp-replication", PortReplication)}
	for _, l := range c.config.listeners {
		ports = append(ports, servicePort(PortName(&l), l.Port))
	}
	for _, p := range undeclared {
		if slices.ContainsFunc(ports, func(have corev1.ServicePort) bool { return have.Port == p.Port }) {
			continue
		}
		for _, name := range []string{p.Name, fmt.Sprintf("tcp-%d", p.Port), fmt.Sprintf("tcp-port-%d", p.Port)} {
			if name != "" && !slices.ContainsFunc(ports, func(have corev1.ServicePort) bool { return have.Name == name }) {
				ports = append(ports, servicePort(name, p.Port))
				break
			}
		}
	}
	return ports
}

func (c *Cluster) services(undeclared []ClientPort) []*corev1.Service {
	clients := c.clientPorts(undeclared)
	brokers := c.selector()
	brokers[labels.BrokerRole] = "true"
	return []*corev1.Service{
		{
			ObjectMeta: c.meta(HeadlessName(c.in.Name)),
			Spec: corev1.ServiceSpec{
				Type: corev1.ServiceTypeClusterIP, ClusterIP: corev1.ClusterIPNone, Selector: c.selector(),
				// Nodes must find each other before any of them is ready.
				PublishNotReadyAddresses: true,
				Ports:                    append([]corev1.ServicePort{servicePort("tcp-ctrlplane", PortControl)}, clients...),
			},
		},
		{
			ObjectMeta: c.meta(BootstrapName(c.in.Name)),
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: brokers, Ports: clients},
		},
	}
}

func servicePort(name string, port int32) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Port: port, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(port)}
}

func (c *Cluster) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: c.in.Namespace, Labels: c.labels(labels.KafkaName(c.in.Name))}
}
