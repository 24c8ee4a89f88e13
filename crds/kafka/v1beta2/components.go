package v1beta2

import corev1 "k8s.io/api/core/v1"

// EntityOperatorSpec describes the topic operator and the user operator.
type EntityOperatorSpec struct {
	// TopicOperator reconciles KafkaTopic resources. Without an image it is not deployed, which the Warning NotDeployed reports.
	// +optional
	TopicOperator *EntityOperatorComponent `json:"topicOperator,omitempty"`

	// UserOperator reconciles KafkaUser resources. Without an image it is not deployed, which the Warning NotDeployed reports.
	// +optional
	UserOperator *EntityOperatorComponent `json:"userOperator,omitempty"`

	// Not used: changes to the objects of the operators' deployment.
	// +optional
	Template *Opaque `json:"template,omitempty"`

	// Not used: the TLS sidecar, which clusters in KRaft mode do not have.
	// +optional
	TLSSidecar *Opaque `json:"tlsSidecar,omitempty"`
}

// EntityOperatorComponent is the topic operator or the user operator.
type EntityOperatorComponent struct {
	// Image to deploy. Without an image nothing is deployed. The pod runs as the ServiceAccount default of the namespace: give it the
	// rights that the operator needs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image,omitempty"`

	// Resources are the requests and limits of the operator.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Not used: the namespace whose resources the operator watches.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	WatchedNamespace string `json:"watchedNamespace,omitempty"`

	// Not used: interval between full reconciliations, in seconds.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	ReconciliationIntervalSeconds *int32 `json:"reconciliationIntervalSeconds,omitempty"`

	// Not used: interval between full reconciliations, in milliseconds.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReconciliationIntervalMs *int64 `json:"reconciliationIntervalMs,omitempty"`

	// Not used: ZooKeeper's session timeout.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	ZookeeperSessionTimeoutSeconds *int32 `json:"zookeeperSessionTimeoutSeconds,omitempty"`

	// Not used: how many times the topic operator tries to read a topic's metadata.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	TopicMetadataMaxAttempts *int32 `json:"topicMetadataMaxAttempts,omitempty"`

	// Not used: prefix of the names of users' Secrets.
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
	// Image to deploy, with a program that takes the flags of danielqsj/kafka-exporter. Defaults to that image at a fixed version.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image,omitempty"`

	// Resources are the requests and limits of the exporter.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// GroupRegex selects the consumer groups to export. Defaults to all.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	GroupRegex string `json:"groupRegex,omitempty"`

	// TopicRegex selects the topics to export. Defaults to all.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	TopicRegex string `json:"topicRegex,omitempty"`

	// GroupExcludeRegex selects the consumer groups to leave out. Defaults to none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	GroupExcludeRegex string `json:"groupExcludeRegex,omitempty"`

	// TopicExcludeRegex selects the topics to leave out. Defaults to none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	TopicExcludeRegex string `json:"topicExcludeRegex,omitempty"`

	// Not used: the log level.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Logging string `json:"logging,omitempty"`

	// Not used: whether the exporter logs the requests of its Kafka client.
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

	// Not used: changes to the objects of the exporter's deployment.
	// +optional
	Template *Opaque `json:"template,omitempty"`
}
