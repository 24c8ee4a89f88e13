// Package api holds the resource of the turnstile, a kind that exists for tests.
//
// +kubebuilder:object:generate=true
// +groupName=turnstile.test.detent.dev
// +versionName=v1
package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// GroupVersion of the turnstile.
var GroupVersion = schema.GroupVersion{Group: "turnstile.test.detent.dev", Version: "v1"}

// AddToScheme registers the turnstile's types.
func AddToScheme(scheme *k8sruntime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Turnstile{}, &TurnstileList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Turnstile is a gate with arms of one model and a lamp of one colour.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Turnstile struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec TurnstileSpec `json:"spec,omitempty"`
	// Status is the observed state.
	// +optional
	Status TurnstileStatus `json:"status,omitempty"`
}

// TurnstileSpec is the desired state.
type TurnstileSpec struct {
	// Model of every arm.
	// +kubebuilder:validation:MaxLength=64
	Model string `json:"model"`
	// Arms is how many arms there are.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=8
	Arms int32 `json:"arms"`
	// Lamp is the colour that the lamp shows.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Lamp string `json:"lamp,omitempty"`
	// Approved is the model whose seal a user has approved; "any" approves every model.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Approved string `json:"approved,omitempty"`
}

// TurnstileStatus is the observed state.
type TurnstileStatus struct {
	lifecyclev1.Status `json:",inline"`

	// Sealed is the model that the turnstile was last observed to be sealed for.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Sealed string `json:"sealed,omitempty"`
}

// TurnstileList is a list of turnstiles.
//
// +kubebuilder:object:root=true
type TurnstileList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Turnstile `json:"items"`
}

// LifecycleStatus points into the status.
func (t *Turnstile) LifecycleStatus() *lifecyclev1.Status { return &t.Status.Status }
