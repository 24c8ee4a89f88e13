package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// KafkaNodePool is a group of nodes of one Kafka cluster with the same roles, storage and resources.
// The label strimzi.io/cluster names the cluster.
//
// +kubebuilder:object:root=true
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
	Spec v1beta2.KafkaNodePoolSpec `json:"spec"`
	// Status is the observed state of the pool. Only Detent writes it. If it is lost, Detent infers it again from observation.
	// +optional
	Status v1beta2.KafkaNodePoolStatus `json:"status,omitzero"`
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
