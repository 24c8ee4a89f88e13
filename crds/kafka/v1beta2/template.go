package v1beta2

// ClusterTemplate changes the objects of a cluster. Only the template of pods is used.
type ClusterTemplate struct {
	// Pod changes pods.
	// +optional
	Pod *PodTemplate `json:"pod,omitempty"`

	// Not used: changes to the StrimziPodSet.
	// +optional
	PodSet *Opaque `json:"podSet,omitempty"`

	// Not used: changes to the container that runs Kafka.
	// +optional
	KafkaContainer *Opaque `json:"kafkaContainer,omitempty"`

	// Not used: changes to the container that runs before Kafka.
	// +optional
	InitContainer *Opaque `json:"initContainer,omitempty"`

	// Not used: changes to volume claims.
	// +optional
	PersistentVolumeClaim *Opaque `json:"persistentVolumeClaim,omitempty"`

	// Not used: changes to the Service of each node.
	// +optional
	PerPodService *Opaque `json:"perPodService,omitempty"`

	// Not used: changes to the Route of each node.
	// +optional
	PerPodRoute *Opaque `json:"perPodRoute,omitempty"`

	// Not used: changes to the Ingress of each node.
	// +optional
	PerPodIngress *Opaque `json:"perPodIngress,omitempty"`

	// Not used: changes to a StatefulSet. Detent creates none.
	// +optional
	Statefulset *Opaque `json:"statefulset,omitempty"`

	// Not used: changes to the bootstrap Service.
	// +optional
	BootstrapService *Opaque `json:"bootstrapService,omitempty"`

	// Not used: changes to the headless Service.
	// +optional
	BrokersService *Opaque `json:"brokersService,omitempty"`

	// Not used: changes to the Service of external listeners.
	// +optional
	ExternalBootstrapService *Opaque `json:"externalBootstrapService,omitempty"`

	// Not used: changes to the Route of external listeners.
	// +optional
	ExternalBootstrapRoute *Opaque `json:"externalBootstrapRoute,omitempty"`

	// Not used: changes to the Ingress of external listeners.
	// +optional
	ExternalBootstrapIngress *Opaque `json:"externalBootstrapIngress,omitempty"`

	// Not used: changes to the PodDisruptionBudget.
	// +optional
	PodDisruptionBudget *Opaque `json:"podDisruptionBudget,omitempty"`

	// Not used: changes to the Secret with the certificate of the cluster CA.
	// +optional
	ClusterCACert *Opaque `json:"clusterCaCert,omitempty"`

	// Not used: changes to the ServiceAccount.
	// +optional
	ServiceAccount *Opaque `json:"serviceAccount,omitempty"`

	// Not used: changes to the Secret for JMX.
	// +optional
	JmxSecret *Opaque `json:"jmxSecret,omitempty"`

	// Not used: changes to the ClusterRoleBinding.
	// +optional
	ClusterRoleBinding *Opaque `json:"clusterRoleBinding,omitempty"`
}

// NodePoolTemplate changes the objects of a node. Only the template of pods is used.
type NodePoolTemplate struct {
	// Pod changes pods.
	// +optional
	Pod *PodTemplate `json:"pod,omitempty"`

	// Not used: changes to the StrimziPodSet.
	// +optional
	PodSet *Opaque `json:"podSet,omitempty"`

	// Not used: changes to the container that runs Kafka.
	// +optional
	KafkaContainer *Opaque `json:"kafkaContainer,omitempty"`

	// Not used: changes to the container that runs before Kafka.
	// +optional
	InitContainer *Opaque `json:"initContainer,omitempty"`

	// Not used: changes to volume claims.
	// +optional
	PersistentVolumeClaim *Opaque `json:"persistentVolumeClaim,omitempty"`

	// Not used: changes to the Service of each node.
	// +optional
	PerPodService *Opaque `json:"perPodService,omitempty"`

	// Not used: changes to the Route of each node.
	// +optional
	PerPodRoute *Opaque `json:"perPodRoute,omitempty"`

	// Not used: changes to the Ingress of each node.
	// +optional
	PerPodIngress *Opaque `json:"perPodIngress,omitempty"`
}

// PodTemplate changes pods. A change rolls the nodes. Without affinity and topologySpreadConstraints the pods of a pool prefer
// different nodes of Kubernetes.
//
// What Kubernetes defines is kept as it is written, so that a field of a newer release is accepted. It is decoded before a node is
// changed, and the API server checks the new pod before the running one is deleted.
type PodTemplate struct {
	// Metadata is added to the metadata of pods.
	// +optional
	Metadata *MetadataTemplate `json:"metadata,omitempty"`

	// Affinity of pods, as in a pod.
	// +optional
	Affinity *Opaque `json:"affinity,omitempty"`

	// Tolerations of pods, as in a pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	Tolerations []Opaque `json:"tolerations,omitempty"`

	// TopologySpreadConstraints of pods, as in a pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	TopologySpreadConstraints []Opaque `json:"topologySpreadConstraints,omitempty"`

	// PriorityClassName of pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// SchedulerName is the scheduler of pods. Defaults to that of Kubernetes.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SchedulerName string `json:"schedulerName,omitempty"`

	// TerminationGracePeriodSeconds is how long a node may take to stop before its process is killed. Defaults to 60. With 0 Kubernetes
	// would forget a pod while its process still runs.
	// +optional
	// +kubebuilder:validation:Minimum=1
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// Not used: the security context of pods.
	// +optional
	SecurityContext *Opaque `json:"securityContext,omitempty"`

	// Not used: secrets for pulling images. spec.kafka.imagePullSecrets is.
	// +optional
	// +listType=atomic
	ImagePullSecrets []Opaque `json:"imagePullSecrets,omitempty"`

	// Not used: entries in the hosts files of pods.
	// +optional
	// +listType=atomic
	HostAliases []Opaque `json:"hostAliases,omitempty"`

	// Not used: environment variables for Services. Pods have none.
	// +optional
	EnableServiceLinks *bool `json:"enableServiceLinks,omitempty"`

	// Not used: the size of the volume for temporary files.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	TmpDirSizeLimit string `json:"tmpDirSizeLimit,omitempty"`

	// Not used: additional volumes.
	// +optional
	// +listType=atomic
	Volumes []Opaque `json:"volumes,omitempty"`

	// Not used: the DNS policy of pods.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	DNSPolicy string `json:"dnsPolicy,omitempty"`

	// Not used: the DNS configuration of pods.
	// +optional
	DNSConfig *Opaque `json:"dnsConfig,omitempty"`

	// Not used: user namespaces.
	// +optional
	HostUsers *bool `json:"hostUsers,omitempty"`
}

// MetadataTemplate is added to the metadata of an object. Names of strimzi.io and detent.dev, and those of app.kubernetes.io that
// Detent sets, are left out.
type MetadataTemplate struct {
	// Labels to add.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations to add.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`
}
