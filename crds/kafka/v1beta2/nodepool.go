package v1beta2

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// KafkaNodePool is a group of nodes of one Kafka cluster with the same roles, storage and resources.
// The label strimzi.io/cluster names the cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.labelSelector
// +kubebuilder:resource:path=kafkanodepools,scope=Namespaced,shortName=knp,categories=strimzi
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`,description="Desired number of nodes"
// +kubebuilder:printcolumn:name="Roles",type=string,JSONPath=`.status.roles`,description="Roles of the nodes"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether every desired node of the pool is in place and serving"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.summary.state`,description="State of the first lifecycle that is not at rest"
// +kubebuilder:printcolumn:name="For",type=date,JSONPath=`.status.summary.since`,description="Time in that state"
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.summary.progress`,description="How much of the attempt is done"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since the resource was created"
// +kubebuilder:printcolumn:name="Node IDs",type=string,priority=1,JSONPath=`.status.nodeIds`,description="Ids of the nodes"
// +kubebuilder:printcolumn:name="Warning",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Warning")].reason`,description="Reason of the first warning"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 56 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must hold only lower-case letters, digits and - inside, and have at most 56 characters: pods are named after cluster, pool and node id"
type KafkaNodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state of the pool. Only users and their tools write it.
	Spec KafkaNodePoolSpec `json:"spec"`
	// Status is the observed state of the pool. Only Detent writes it. If it is lost, Detent infers it again from observation.
	// +optional
	Status KafkaNodePoolStatus `json:"status,omitzero"`
}

// LifecycleStatus is the part of the status that all resources driven by Detent share. It points into the receiver.
func (p *KafkaNodePool) LifecycleStatus() *lifecyclev1.Status { return &p.Status.Status }

// KafkaNodePoolList is a list of node pools.
//
// +kubebuilder:object:root=true
type KafkaNodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	// Items are the pools.
	Items []KafkaNodePool `json:"items"`
}

// NodeRole is the role of a node: a broker stores data for clients, a controller stores the cluster's metadata.
//
// +kubebuilder:validation:Enum=controller;broker
type NodeRole string

const (
	// RoleController is a voter of the metadata quorum.
	RoleController NodeRole = "controller"
	// RoleBroker stores partitions and serves clients.
	RoleBroker NodeRole = "broker"
)

// KafkaNodePoolSpec is the desired state of a node pool.
type KafkaNodePoolSpec struct {
	// Replicas is the desired number of nodes.
	// Lowering it removes the nodes that the annotation strimzi.io/remove-node-ids names, else those with the highest ids. A broker that still holds partitions is not removed.
	// The number of controllers of a running cluster cannot change.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas int32 `json:"replicas"`

	// Roles of the nodes: controller, broker or both.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	Roles []NodeRole `json:"roles"`

	// Storage of each node.
	Storage Storage `json:"storage"`

	// Resources are the requests and limits of a node. Defaults to those of the Kafka resource.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// JvmOptions of the nodes. Defaults to those of the Kafka resource.
	// +optional
	JvmOptions *JvmOptions `json:"jvmOptions,omitempty"`

	// Template changes the pods of the nodes. If it is set, the template of the Kafka resource does not apply to this pool.
	// +optional
	Template *NodePoolTemplate `json:"template,omitempty"`
}

// HasRole reports whether the spec gives the nodes of the pool a role.
func (s *KafkaNodePoolSpec) HasRole(role NodeRole) bool { return slices.Contains(s.Roles, role) }
