// Package api contains the custom resource of the hello example.
//
// +kubebuilder:object:generate=true
// +groupName=hello.example.org
// +versionName=v1
package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// GroupVersion of the example.
var GroupVersion = schema.GroupVersion{Group: "hello.example.org", Version: "v1"}

// AddToScheme registers the example's types.
func AddToScheme(scheme *k8sruntime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Greeting{}, &GreetingList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Greeting requests a text to be spoken.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.summary.state`
// +kubebuilder:printcolumn:name="For",type=date,JSONPath=`.status.summary.since`
type Greeting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec GreetingSpec `json:"spec,omitempty"`
	// Status is the observed state.
	// +optional
	Status lifecyclev1.Status `json:"status,omitempty"`
}

// GreetingSpec is the desired state of a Greeting.
type GreetingSpec struct {
	// Text to write into the ConfigMap of the greeting's name.
	// +kubebuilder:validation:MaxLength=256
	Text string `json:"text"`
}

// GreetingList is a list of greetings.
//
// +kubebuilder:object:root=true
type GreetingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Greeting `json:"items"`
}

// LifecycleStatus implements the runtime's Object. It is the only method that a resource needs.
func (g *Greeting) LifecycleStatus() *lifecyclev1.Status { return &g.Status }
