// Package api contains the custom resource of the accounts example.
//
// +kubebuilder:object:generate=true
// +groupName=bank.example.org
// +versionName=v1
package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// AddToScheme registers the example's types.
func AddToScheme(scheme *k8sruntime.Scheme) error {
	version := schema.GroupVersion{Group: "bank.example.org", Version: "v1"}
	scheme.AddKnownTypes(version, &Account{}, &AccountList{})
	metav1.AddToGroupVersion(scheme, version)
	return nil
}

// Account requests an account at the bank. The account is closed when the object is deleted.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.summary.state`
type Account struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is the desired state.
	// +optional
	Spec AccountSpec `json:"spec,omitempty"`
	// Status is the observed state.
	// +optional
	Status lifecyclev1.Status `json:"status,omitempty"`
}

// AccountSpec is the desired state of an Account.
type AccountSpec struct {
	// Plan of the account, one of those that the bank offers.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Plan string `json:"plan"`
	// Cards of the account, by name. A card that is removed is canceled.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9-]+$`
	Cards []string `json:"cards,omitempty"`
}

// AccountList is a list of accounts.
//
// +kubebuilder:object:root=true
type AccountList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Account `json:"items"`
}

// LifecycleStatus implements the runtime's Object.
func (a *Account) LifecycleStatus() *lifecyclev1.Status { return &a.Status }
