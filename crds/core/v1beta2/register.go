package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// Group of the API.
	Group = "core.strimzi.io"
	// Version of this package.
	Version = "v1beta2"
	// KindStrimziPodSet is the kind of StrimziPodSet.
	KindStrimziPodSet = "StrimziPodSet"
)

// GroupVersion is the apiVersion of the kinds of this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: Group, Version: Version}
}

// AddToScheme registers the kinds of this package and their lists. It never returns an error; the result has the type that
// k8sruntime.SchemeBuilder requires.
func AddToScheme(scheme *k8sruntime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(), &StrimziPodSet{}, &StrimziPodSetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
