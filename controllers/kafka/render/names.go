package render

import "fmt"

// Ports of the listeners that every cluster has: between controllers, and between brokers.
const (
	PortControl     = 9090
	PortReplication = 9091
)

// Names of a cluster's listeners, as Strimzi gives them.
const (
	listenerControl     = "CONTROLPLANE-9090"
	listenerReplication = "REPLICATION-9091"
)

// HeadlessName is the name of the Service through which nodes find each other.
func HeadlessName(cluster string) string { return cluster + "-kafka-brokers" }

// BootstrapName is the name of the Service that clients start from.
func BootstrapName(cluster string) string { return cluster + "-kafka-bootstrap" }

// PodSetName is the name of the StrimziPodSet of a pool.
func PodSetName(cluster, pool string) string { return cluster + "-" + pool }

// EntityOperatorName and ExporterName are the names of the components beside the nodes.
func EntityOperatorName(cluster string) string { return cluster + "-entity-operator" }

// ExporterName is the name of the exporter of consumer lag.
func ExporterName(cluster string) string { return cluster + "-kafka-exporter" }

// host is the name under which a pod is reached.
func (c *Cluster) host(pod string) string { return Host(c.in.Namespace, c.in.Name, pod) }

// Host is the name under which a pod of the cluster is reached from every namespace.
func Host(namespace, cluster, pod string) string {
	return fmt.Sprintf("%s.%s.%s.svc", pod, HeadlessName(cluster), namespace)
}
