// Package api holds the resources of the sequence benchmark: the same work, with a lifecycle and with a phase.
//
// +kubebuilder:object:generate=true
// +groupName=sequence.bench.detent.dev
// +versionName=v1
package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// GroupVersion of the resources.
var GroupVersion = schema.GroupVersion{Group: "sequence.bench.detent.dev", Version: "v1"}

// AddToScheme registers the types.
func AddToScheme(scheme *k8sruntime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Sequence{}, &SequenceList{}, &PlainSequence{}, &PlainSequenceList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// SequenceSpec is the desired state of either resource.
type SequenceSpec struct {
	// Text of every ConfigMap.
	// +kubebuilder:validation:MaxLength=64
	Text string `json:"text"`
}

// Sequence is reconciled by the framework.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Sequence struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec SequenceSpec `json:"spec,omitempty"`
	// Status is the observed state.
	// +optional
	Status lifecyclev1.Status `json:"status,omitempty"`
}

// LifecycleStatus points into the status.
func (s *Sequence) LifecycleStatus() *lifecyclev1.Status { return &s.Status }

// SequenceList is a list of them.
//
// +kubebuilder:object:root=true
type SequenceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Sequence `json:"items"`
}

// PlainSequence is reconciled by a reconciler that is written by hand.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type PlainSequence struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec SequenceSpec `json:"spec,omitempty"`
	// Status is the observed state.
	// +optional
	Status PlainSequenceStatus `json:"status,omitempty"`
}

// PlainSequenceStatus is the observed state of a PlainSequence.
type PlainSequenceStatus struct {
	// ObservedGeneration is the generation that the phase belongs to.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Phase is the step that is under way, or Done.
	// +optional
	Phase string `json:"phase,omitempty"`
	// Conditions contain Ready.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PlainSequenceList is a list of them.
//
// +kubebuilder:object:root=true
type PlainSequenceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PlainSequence `json:"items"`
}
