package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// Group of the API.
	Group = "ceph.rook.io"
	// Version of this package.
	Version = "v1"
	// KindCluster is the kind of Cluster.
	KindCluster = "Cluster"
)

// GroupVersion is the apiVersion of the kinds of this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: Group, Version: Version}
}

// AddToScheme registers the kinds of this package and their lists. It never returns an error; the result has the type that
// k8sruntime.SchemeBuilder requires.
func AddToScheme(scheme *k8sruntime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(), &Cluster{}, &ClusterList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
