package v1beta2

import corev1 "k8s.io/api/core/v1"

// EntityOperatorSpec describes the operators of topics and users.
type EntityOperatorSpec struct {
	// TopicOperator keeps topics as KafkaTopic resources say. Without an image it is not deployed, and a Warning NotServedYet says so.
	// +optional
	TopicOperator *EntityOperatorComponent `json:"topicOperator,omitempty"`

	// UserOperator keeps users as KafkaUser resources say. Without an image it is not deployed, and a Warning NotServedYet says so.
	// +optional
	UserOperator *EntityOperatorComponent `json:"userOperator,omitempty"`

	// Not used: changes to the objects that the operators are made of.
	// +optional
	Template *Opaque `json:"template,omitempty"`

	// Not used: the TLS sidecar, which clusters in KRaft mode do not have.
	// +optional
	TLSSidecar *Opaque `json:"tlsSidecar,omitempty"`
}

// EntityOperatorComponent is one of the operators of topics and users.
type EntityOperatorComponent struct {
	// Image to deploy. Nothing is deployed without one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image,omitempty"`

	// Resources that the operator requests and is limited to.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Not used: the namespace whose resources the operator watches.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	WatchedNamespace string `json:"watchedNamespace,omitempty"`

	// Not used: time between two looks at everything, in seconds.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	ReconciliationIntervalSeconds *int32 `json:"reconciliationIntervalSeconds,omitempty"`

	// Not used: time between two looks at everything, in milliseconds.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReconciliationIntervalMs *int64 `json:"reconciliationIntervalMs,omitempty"`

	// Not used: ZooKeeper's session time-out.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	ZookeeperSessionTimeoutSeconds *int32 `json:"zookeeperSessionTimeoutSeconds,omitempty"`

	// Not used: how often the topic operator asks for a topic's metadata.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	TopicMetadataMaxAttempts *int32 `json:"topicMetadataMaxAttempts,omitempty"`

	// Not used: what the names of users' Secrets start with.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SecretPrefix string `json:"secretPrefix,omitempty"`

	// Not used: the timing of the start-up probe.
	// +optional
	StartupProbe *Opaque `json:"startupProbe,omitempty"`

	// Not used: the timing of the liveness probe.
	// +optional
	LivenessProbe *Opaque `json:"livenessProbe,omitempty"`

	// Not used: the timing of the readiness probe.
	// +optional
	ReadinessProbe *Opaque `json:"readinessProbe,omitempty"`

	// Not used: log levels and appenders.
	// +optional
	Logging *Opaque `json:"logging,omitempty"`

	// Not used: options of the Java virtual machine.
	// +optional
	JvmOptions *Opaque `json:"jvmOptions,omitempty"`
}

// KafkaExporterSpec describes an exporter of consumer lag.
type KafkaExporterSpec struct {
	// Image to deploy; default: danielqsj/kafka-exporter at a fixed version. It takes the flags of that program.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image,omitempty"`

	// Resources that the exporter requests and is limited to.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// GroupRegex says which consumer groups are exported; default: all.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	GroupRegex string `json:"groupRegex,omitempty"`

	// TopicRegex says which topics are exported; default: all.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	TopicRegex string `json:"topicRegex,omitempty"`

	// GroupExcludeRegex says which consumer groups are left out; default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	GroupExcludeRegex string `json:"groupExcludeRegex,omitempty"`

	// TopicExcludeRegex says which topics are left out; default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	TopicExcludeRegex string `json:"topicExcludeRegex,omitempty"`

	// Not used: the log level.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Logging string `json:"logging,omitempty"`

	// Not used: whether the exporter logs what its Kafka client does.
	// +optional
	EnableSaramaLogging *bool `json:"enableSaramaLogging,omitempty"`

	// Not used: whether offsets of groups without members are exported.
	// +optional
	ShowAllOffsets *bool `json:"showAllOffsets,omitempty"`

	// Not used: the timing of the liveness probe.
	// +optional
	LivenessProbe *Opaque `json:"livenessProbe,omitempty"`

	// Not used: the timing of the readiness probe.
	// +optional
	ReadinessProbe *Opaque `json:"readinessProbe,omitempty"`

	// Not used: changes to the objects that the exporter is made of.
	// +optional
	Template *Opaque `json:"template,omitempty"`
}
