package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// KafkaClusterSpec is the part of the spec that all nodes of a cluster share.
type KafkaClusterSpec struct {
	// Version of Kafka that every node is to run, such as 4.1.1.
	// Changing it starts an upgrade or a downgrade, one node at a time.
	// If unset, a running cluster keeps its version and a new cluster gets the default of the version table.
	// A build may follow a dash: 4.1.1-acme-2 is ordered as 4.1.1.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,4}[.][0-9]{1,4}[.][0-9]{1,4}(-[0-9A-Za-z][0-9A-Za-z-]*([.][0-9A-Za-z-]+)*)?$')",messageExpression="'\"' + self + '\" is not a version of Kafka: write major.minor.patch, such as 4.1.1, with a build after a dash if there is one'"
	Version string `json:"version,omitempty"`

	// MetadataVersion to finalize once every node runs version, such as "4.1", in quotes, or 4.1-IV1.
	// Defaults to the newest that version supports.
	// With a lower one a downgrade stays possible.
	// Raising it cannot be undone by changing the field back, unless Kafka can lower it without loss.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,4}[.][0-9]{1,4}([.][0-9]{1,4})?(-IV[0-9]{1,4})?$')",messageExpression="'\"' + self + '\" is not a metadata version: write it as \"4.1\", in quotes, or 4.1-IV1'"
	MetadataVersion string `json:"metadataVersion,omitempty"`

	// Image of the nodes on version, unless version has an entry in images.
	// Change it together with version. Nodes on another version keep the image with which they run; images is safer.
	// Defaults to apache/kafka with the version as tag.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image,omitempty"`

	// Images by Kafka version, such as 4.1.1: registry.example.com/kafka:4.1.1-r2. An entry takes precedence over image.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Images map[string]ImageReference `json:"images,omitempty"`

	// ImagePullSecrets name the Secrets in this namespace with which the images of nodes and components are pulled.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(s, has(s.name) && s.name != '')",message="each entry must name a Secret, as name: my-registry"
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Listeners that clients connect to. Names and ports are unique within the cluster.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(l, self.exists_one(other, other.port == l.port))",message="listener ports must be unique: two listeners share a port"
	Listeners []Listener `json:"listeners"`

	// Config is Kafka's own configuration, as property: value. A value is a string, a number or a boolean.
	// Properties that Detent manages, such as node.id, listeners and log.dirs, are ignored and named in a Warning.
	// +optional
	// +kubebuilder:validation:MaxProperties=512
	Config map[string]apiextensionsv1.JSON `json:"config,omitempty"`

	// Resources are the requests and limits of a node. The resources of a pool take precedence.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// JvmOptions of every node. The options of a pool take precedence.
	// +optional
	JvmOptions *JvmOptions `json:"jvmOptions,omitempty"`

	// Rack makes Kafka place the replicas of a partition in different racks.
	// Setting, changing or removing it restarts the brokers, one at a time.
	// +optional
	Rack *Rack `json:"rack,omitempty"`

	// Template changes the pods of the nodes in all pools that have no template.
	// +optional
	Template *ClusterTemplate `json:"template,omitempty"`

	UnusedClusterFields `json:",inline"`
}

// Rack is where a broker gets its rack from: broker.rack of its configuration.
type Rack struct {
	// TopologyKey is a label of the Kubernetes nodes, such as topology.kubernetes.io/zone. Its value is the rack of the brokers that run
	// there. A broker is scheduled only to nodes that have the label.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	TopologyKey string `json:"topologyKey"`
}

// ImageReference is a container image: registry, repository and tag or digest.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:Pattern=`^\S+$`
type ImageReference string

// ImageFor returns the image that the spec sets for a version of Kafka: the entry in images, else image if it is of that version. It is
// empty if the spec sets neither.
func (s *KafkaClusterSpec) ImageFor(version string) string {
	if image, ok := s.Images[version]; ok {
		return string(image)
	}
	if !s.Declares(version) {
		return ""
	}
	return s.Image
}

// Declares reports whether image is of the version of Kafka: of the declared version, or of any if none is declared.
func (s *KafkaClusterSpec) Declares(version string) bool {
	return s.Version == "" || s.Version == version
}

// UnusedClusterFields are the fields of spec.kafka that are accepted and have no effect.
type UnusedClusterFields struct {
	// Not used: the number of brokers. KafkaNodePools set it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	Replicas *int32 `json:"replicas,omitempty"`

	// Not used: the storage of brokers. KafkaNodePools set it.
	// +optional
	Storage *Opaque `json:"storage,omitempty"`

	// Not used: access control. Every client that reaches a listener may do everything. Therefore no node is started or
	// restarted while this field is set.
	// +optional
	Authorization *Opaque `json:"authorization,omitempty"`

	// Not used: the image that determines a node's rack. None is needed.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	BrokerRackInitImage string `json:"brokerRackInitImage,omitempty"`

	// Not used: the timing of the liveness probe.
	// +optional
	LivenessProbe *Opaque `json:"livenessProbe,omitempty"`

	// Not used: the timing of the readiness probe.
	// +optional
	ReadinessProbe *Opaque `json:"readinessProbe,omitempty"`

	// Not used: remote access to JMX.
	// +optional
	JmxOptions *Opaque `json:"jmxOptions,omitempty"`

	// Not used: how metrics are exported.
	// +optional
	MetricsConfig *Opaque `json:"metricsConfig,omitempty"`

	// Not used: log levels and appenders.
	// +optional
	Logging *Opaque `json:"logging,omitempty"`

	// Not used: storage of old log segments outside the brokers.
	// +optional
	TieredStorage *Opaque `json:"tieredStorage,omitempty"`

	// Not used: limits per client and per volume.
	// +optional
	Quotas *Opaque `json:"quotas,omitempty"`
}
