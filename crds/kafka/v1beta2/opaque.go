package v1beta2

import k8sruntime "k8s.io/apimachinery/pkg/runtime"

// Opaque is an object that is kept exactly as written and never looked into.
//
// +kubebuilder:validation:Type=object
// +kubebuilder:pruning:PreserveUnknownFields
type Opaque struct {
	k8sruntime.RawExtension `json:",inline"`
}
