package v1beta2

import k8sruntime "k8s.io/apimachinery/pkg/runtime"

// Opaque is an object that is stored exactly as written and never interpreted.
//
// +kubebuilder:validation:Type=object
// +kubebuilder:pruning:PreserveUnknownFields
type Opaque struct {
	k8sruntime.RawExtension `json:",inline"`
}
