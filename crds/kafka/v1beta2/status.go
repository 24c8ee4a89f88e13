package v1beta2

import lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"

// KafkaStatus is the observed state of a cluster.
type KafkaStatus struct {
	lifecyclev1.Status `json:",inline"`

	// KafkaVersion is the version that every desired node, controllers included, last ran while ready.
	// A later failure does not clear it. A roll sets it only when it is complete.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	KafkaVersion string `json:"kafkaVersion,omitempty"`

	// KafkaMetadataVersion is the finalized metadata version as Kafka reports it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	KafkaMetadataVersion string `json:"kafkaMetadataVersion,omitempty"`

	// OperatorLastSuccessfulVersion is the version of Detent that last reconciled everything that the spec declares without error.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	OperatorLastSuccessfulVersion string `json:"operatorLastSuccessfulVersion,omitempty"`

	// ClusterID is Kafka's id of the cluster. It is chosen before the first node starts and never changes.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ClusterID string `json:"clusterId,omitempty"`

	// NodeIDs are the ids of all nodes, controllers included, that exist or have yet to be unregistered from Kafka.
	// For internal use only, and temporary: the list of registered nodes from Kafka's Admin API will replace it.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=2048
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=2147483647
	NodeIDs []int32 `json:"nodeIds,omitempty"`

	// RegisteredNodeIDs is the field in which Strimzi 0.43 to 0.47 stored nodeIds. It is read when a cluster is adopted and never written.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2048
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=2147483647
	RegisteredNodeIDs []int32 `json:"registeredNodeIds,omitempty"`

	// Listeners to which clients can connect.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Listeners []ListenerStatus `json:"listeners,omitempty"`

	// KafkaNodePools of the cluster.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	KafkaNodePools []UsedNodePool `json:"kafkaNodePools,omitempty"`
}

// ListenerStatus is the observed address of a listener.
type ListenerStatus struct {
	// Name of the listener.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`

	// Type is the former field for name. Some tools still read it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Type string `json:"type,omitempty"`

	// Addresses of the bootstrap servers.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Addresses []ListenerAddress `json:"addresses,omitempty"`

	// BootstrapServers is the addresses as one string: host:port, separated by commas.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	BootstrapServers string `json:"bootstrapServers,omitempty"`

	// Certificates in PEM that a client of a TLS listener must trust.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=16384
	Certificates []string `json:"certificates,omitempty"`
}

// ListenerAddress is one address of a listener.
type ListenerAddress struct {
	// Host is a name or an IP address.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host,omitempty"`

	// Port at that host.
	// +optional
	// +kubebuilder:validation:Maximum=2147483647
	Port int32 `json:"port,omitempty"`
}

// UsedNodePool is one node pool of the cluster.
type UsedNodePool struct {
	// Name of the KafkaNodePool.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// KafkaNodePoolStatus is the observed state of a node pool.
type KafkaNodePoolStatus struct {
	lifecyclev1.Status `json:",inline"`

	// NodeIDs are the ids of the pool's nodes that are desired or still exist.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=2048
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=2147483647
	NodeIDs []int32 `json:"nodeIds,omitempty"`

	// ClusterID is the id of the Kafka cluster that the pool belongs to.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ClusterID string `json:"clusterId,omitempty"`

	// Roles that the pool's nodes have.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=2
	Roles []NodeRole `json:"roles,omitempty"`

	// Replicas is the number of nodes that exist, for the scale subresource.
	// +optional
	// +kubebuilder:validation:Maximum=2147483647
	Replicas int32 `json:"replicas"`

	// LabelSelector selects the pods of the pool, as a string, for the scale subresource.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LabelSelector string `json:"labelSelector,omitempty"`
}
