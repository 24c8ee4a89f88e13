package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// KafkaMirrorMaker2 mirrors topics and consumer groups of source clusters to one target cluster.
// The annotations strimzi.io/connector-offsets and strimzi.io/mirrormaker-connector request that the offsets of its connectors are
// listed, altered or reset.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.labelSelector
// +kubebuilder:resource:path=kafkamirrormaker2s,scope=Namespaced,shortName=kmm2,categories=strimzi
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`,description="Desired number of workers"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether everything that the spec declares is in place and running"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.summary.state`,description="State of the first lifecycle that is not at rest"
// +kubebuilder:printcolumn:name="For",type=date,JSONPath=`.status.summary.since`,description="Time in that state"
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.summary.progress`,description="How much of the attempt is done"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since the resource was created"
// +kubebuilder:printcolumn:name="Warning",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Warning")].reason`,description="Reason of the first warning"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must start with a letter, hold only lower-case letters, digits and -, and have at most 40 characters: Services are named after it"
type KafkaMirrorMaker2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state. Only users and their tools write it.
	Spec KafkaMirrorMaker2Spec `json:"spec"`
	// Status is the observed state. Only Detent writes it. If it is lost, Detent infers it again from observation.
	// +optional
	Status KafkaMirrorMaker2Status `json:"status,omitzero"`
}

// LifecycleStatus is the part of the status that all resources driven by Detent share. It points into the receiver.
func (m *KafkaMirrorMaker2) LifecycleStatus() *lifecyclev1.Status { return &m.Status.Status }

// KafkaMirrorMaker2List is a list of KafkaMirrorMaker2 resources.
//
// +kubebuilder:object:root=true
type KafkaMirrorMaker2List struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	// Items are the resources.
	Items []KafkaMirrorMaker2 `json:"items"`
}

// KafkaMirrorMaker2Status is the observed state of a MirrorMaker 2.
type KafkaMirrorMaker2Status struct {
	lifecyclev1.Status `json:",inline"`

	// URL of Connect's REST API.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	URL string `json:"url,omitempty"`

	// Replicas is the number of workers.
	// +optional
	// +kubebuilder:validation:Maximum=2147483647
	Replicas int32 `json:"replicas,omitempty"`

	// LabelSelector selects the pods of the workers.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LabelSelector string `json:"labelSelector,omitempty"`

	// Connectors as Connect reports them, sorted by name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=96
	Connectors []Opaque `json:"connectors,omitempty"`

	// AutoRestartStatuses count the automatic restarts of connectors.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=96
	AutoRestartStatuses []AutoRestartStatus `json:"autoRestartStatuses,omitempty"`
}

// AutoRestartStatus counts the automatic restarts of one connector.
type AutoRestartStatus struct {
	// ConnectorName is the name of the connector.
	// +kubebuilder:validation:MaxLength=253
	ConnectorName string `json:"connectorName"`

	// Count of restarts since the connector last ran for long enough.
	// +optional
	// +kubebuilder:validation:Maximum=2147483647
	Count int32 `json:"count,omitempty"`

	// LastRestartTimestamp is when it was last restarted.
	// +optional
	LastRestartTimestamp *metav1.Time `json:"lastRestartTimestamp,omitempty"`
}
