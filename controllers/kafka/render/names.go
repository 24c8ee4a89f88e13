package render

// Ports of the listeners that every cluster has: for controllers, and between brokers.
const (
	PortControl     = 9090
	PortReplication = 9091
)

// Names of these listeners, as in Strimzi.
const (
	listenerControl     = "CONTROLPLANE-9090"
	listenerReplication = "REPLICATION-9091"
)

// HeadlessName is the name of the Service by which nodes find each other.
func HeadlessName(cluster string) string { return cluster + "-kafka-brokers" }

// BootstrapName is the name of the Service that clients connect to first.
func BootstrapName(cluster string) string { return cluster + "-kafka-bootstrap" }

// PodSetName is the name of the StrimziPodSet of a pool.
func PodSetName(cluster, pool string) string { return cluster + "-" + pool }

// EntityOperatorName is the name of the Deployment of the topic and user operators.
func EntityOperatorName(cluster string) string { return cluster + "-entity-operator" }

// ExporterName is the name of the exporter of consumer lag.
func ExporterName(cluster string) string { return cluster + "-kafka-exporter" }

// AlteredName is the name of the ConfigMap that records which configurations of running brokers were altered.
func AlteredName(cluster string) string { return cluster + "-dynamic-configuration" }

// host returns the host name of a pod.
func (c *Cluster) host(pod string) string { return Host(c.in.Namespace, c.in.Name, pod) }

// Host returns the host name of a pod of the cluster, valid in every namespace.
func Host(namespace, cluster, pod string) string {
	return pod + "." + HeadlessName(cluster) + "." + namespace + ".svc"
}
