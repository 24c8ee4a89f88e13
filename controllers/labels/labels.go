// Package labels names the labels and annotations of what makes up a Kafka cluster on Kubernetes, and the annotations that several
// kinds share.
//
// Those of strimzi.io are Strimzi's own, with Strimzi's meaning, so that its tools, dashboards and network policies keep
// working. Those of detent.dev say what Strimzi has no word for.
package labels

// Labels that say what an object belongs to.
const (
	// Cluster is the name of the Kafka resource.
	Cluster = "strimzi.io/cluster"
	// Kind of the resource that the object belongs to.
	Kind = "strimzi.io/kind"
	// Name of the component: <cluster>-kafka for everything that nodes are made of.
	Name = "strimzi.io/name"
	// Component is the type of the component.
	Component = "strimzi.io/component-type"
	// Pool is the name of the KafkaNodePool.
	Pool = "strimzi.io/pool-name"
	// PodName is the name of the pod, on the pod itself.
	PodName = "strimzi.io/pod-name"
	// BrokerRole and ControllerRole are "true" or "false" on pods: the roles of the process in it.
	BrokerRole     = "strimzi.io/broker-role"
	ControllerRole = "strimzi.io/controller-role"
	// Controller and ControllerName say which StrimziPodSet a pod is of.
	Controller     = "strimzi.io/controller"
	ControllerName = "strimzi.io/controller-name"
	// Record is RecordNode on the record of a node, and RecordConfiguration on that of altered configurations.
	Record = "detent.dev/record"
	// NodeID is the id of the node that a ConfigMap or a claim belongs to.
	NodeID = "detent.dev/node-id"

	// AppName, AppInstance, AppManagedBy and AppPartOf are Kubernetes' recommended labels.
	AppName      = "app.kubernetes.io/name"
	AppInstance  = "app.kubernetes.io/instance"
	AppManagedBy = "app.kubernetes.io/managed-by"
	AppPartOf    = "app.kubernetes.io/part-of"
)

// Values of labels.
const (
	// KindKafka and KindMirrorMaker2 are values of Kind.
	KindKafka        = "Kafka"
	KindMirrorMaker2 = "KafkaMirrorMaker2"
	// RecordNode and RecordConfiguration are values of Record.
	RecordNode          = "node"
	RecordConfiguration = "configuration"
	// ControllerPodSet is the value of Controller.
	ControllerPodSet = "strimzipodset"
	// ManagedBy is the value of AppManagedBy.
	ManagedBy = "detent"
)

// Annotations.
const (
	// Pause pauses a cluster while its value is not "false".
	Pause = "strimzi.io/pause-reconciliation"
	// Approve permits one step, which the value names together with the one occasion for which it holds. On a Kafka:
	// raise-metadata=<attempt id>/<level> or format-storage=<attempt id>/<pod>. On a Ceph cluster: format-storage=<monitor>/<number of the
	// loss> makes the lost data of a monitor again, new-osd=<UUID> makes an OSD in the storage of one that was removed from Ceph,
	// new-filesystem=<name>/<number of the removal> creates a filesystem that was removed, and crush-host=<UUID>/<node> moves an OSD on a claim to
	// the host in CRUSH of that node. The status shows the value. It is a user's.
	Approve = "detent.dev/approve"
	// KafkaVersion is the version of Kafka that a pod was made for.
	KafkaVersion = "strimzi.io/kafka-version"
	// Revision is a short hash of what a pod was made from.
	Revision = "strimzi.io/revision"
	// Template on a Deployment is a short hash of the pod template that it was last given.
	Template = "detent.dev/template"
	// DeleteClaim says on a claim whether it goes with its node.
	DeleteClaim = "strimzi.io/delete-claim"
	// NextNodeIDs and RemoveNodeIDs on a KafkaNodePool say which ids nodes get, and which go first.
	NextNodeIDs   = "strimzi.io/next-node-ids"
	RemoveNodeIDs = "strimzi.io/remove-node-ids"
	// ClusterID is the id that Kafka knows the cluster by: on claims what their data belongs to, on a Kafka what it is to be.
	ClusterID = "detent.dev/cluster-id"
	// StorageClass on a claim is the storage class with which the operator sent it: a webhook may have given it another one.
	StorageClass = "detent.dev/storage-class"
	// Released on a claim says that its node is gone for good and its data was kept: no node has it any more.
	Released = "detent.dev/released"
	// ContentHashes are the hashes of the contents of a node's ConfigMap, and of the entries of a StrimziPodSet, as the operator wrote them:
	// what differs was edited.
	ContentHashes = "detent.dev/content-hashes"
	// SnapshotInterval is how often the process of a pod takes a snapshot of the metadata log, in milliseconds.
	SnapshotInterval = "detent.dev/snapshot-interval"
	// Restarting on a StrimziPodSet names the pod that is being replaced: nothing is created in its place until its entry
	// was switched.
	Restarting = "detent.dev/restarting"
	// RackTopologyKey on the pod of a broker is the label of its Kubernetes node that has its rack. Rack is that label's value.
	RackTopologyKey = "detent.dev/rack-topology-key"
	Rack            = "detent.dev/rack"
	// RollingUpdate is "true" on a pod that is to be restarted, or on a StrimziPodSet whose pods are. It is a user's.
	RollingUpdate = "strimzi.io/manual-rolling-update"
	// DeletePodAndPVC is "true" on a pod that is to be replaced together with its claims, by an empty node. It is a user's.
	DeletePodAndPVC = "strimzi.io/delete-pod-and-pvc"
	// ToRestart on a StrimziPodSet are the UIDs of the pods that ran when RollingUpdate was seen on it.
	ToRestart = "detent.dev/to-restart"
)

// Kinds of other objects that users annotate.
const (
	KindNodePool = "KafkaNodePool"
	KindCeph     = "Cluster"
	KindPod      = "Pod"
	KindSet      = "StrimziPodSet"
)

// KafkaName is the value of Name for everything that the nodes of a cluster are made of.
func KafkaName(cluster string) string { return cluster + "-kafka" }

// OfNodes returns the labels of everything that the nodes of a cluster are made of.
func OfNodes(cluster string) map[string]string {
	return map[string]string{Cluster: cluster, Kind: KindKafka, Name: KafkaName(cluster)}
}

// Pauses are the annotations that pause a cluster, besides that of the runtime.
func Pauses() []string { return []string{Pause} }
