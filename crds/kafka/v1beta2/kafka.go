package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// Kafka is a Kafka cluster in KRaft mode.
// Its nodes come from the KafkaNodePools that carry its name in the label strimzi.io/cluster.
// Status shows which lifecycle is in progress (version, roll, scale-down, ca), what it waits for and until when.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=kafkas,scope=Namespaced,shortName=k,categories=strimzi
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether everything that the spec declares is in place and serving"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.summary.state`,description="State of the first lifecycle that is not at rest"
// +kubebuilder:printcolumn:name="For",type=date,JSONPath=`.status.summary.since`,description="Time in that state"
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.summary.progress`,description="How much of the attempt is done"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since the resource was created"
// +kubebuilder:printcolumn:name="Kafka Version",type=string,priority=1,JSONPath=`.status.kafkaVersion`,description="Last version that all nodes ran"
// +kubebuilder:printcolumn:name="Metadata Version",type=string,priority=1,JSONPath=`.status.kafkaMetadataVersion`,description="Finalized metadata version"
// +kubebuilder:printcolumn:name="Warning",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Warning")].reason`,description="Reason of the first warning"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 47 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must start with a letter, hold only lower-case letters, digits and -, and have at most 47 characters: Services are named after it"
type Kafka struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state of the cluster. Only users and their tools write it.
	Spec KafkaSpec `json:"spec"`
	// Status is the observed state of the cluster. Only Detent writes it. If it is lost, Detent infers it again from observation.
	// +optional
	Status KafkaStatus `json:"status,omitzero"`
}

// LifecycleStatus is the part of the status that all resources driven by Detent share. It points into the receiver.
func (k *Kafka) LifecycleStatus() *lifecyclev1.Status { return &k.Status.Status }

// KafkaList is a list of Kafka clusters.
//
// +kubebuilder:object:root=true
type KafkaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	// Items are the clusters.
	Items []Kafka `json:"items"`
}

// KafkaSpec is the desired state of a Kafka cluster.
type KafkaSpec struct {
	// Kafka describes what all nodes have in common: version, listeners and configuration.
	Kafka KafkaClusterSpec `json:"kafka"`

	// EntityOperator describes the topic operator and the user operator of the cluster. An operator that has an image is deployed after the brokers.
	// +optional
	EntityOperator *EntityOperatorSpec `json:"entityOperator,omitempty"`

	// KafkaExporter describes an exporter of consumer lag. It is deployed after the brokers.
	// +optional
	KafkaExporter *KafkaExporterSpec `json:"kafkaExporter,omitempty"`

	// ClusterCa describes the certificate authority of the nodes and the TLS listeners. No field of it is used yet: listeners with TLS are
	// not served.
	// +optional
	ClusterCa *CertificateAuthority `json:"clusterCa,omitempty"`

	// Not used: the certificate authority of users. Detent does not manage users.
	// +optional
	ClientsCa *Opaque `json:"clientsCa,omitempty"`

	// Not used: Cruise Control, which balances partitions over brokers.
	// +optional
	CruiseControl *Opaque `json:"cruiseControl,omitempty"`

	// Not used: JmxTrans, which Strimzi itself no longer supports.
	// +optional
	JmxTrans *Opaque `json:"jmxTrans,omitempty"`

	// Not used: ZooKeeper. Only clusters in KRaft mode are managed.
	// +optional
	Zookeeper *Opaque `json:"zookeeper,omitempty"`

	// Not used: windows for certificate renewal, as cron expressions.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	MaintenanceTimeWindows []string `json:"maintenanceTimeWindows,omitempty"`
}
