package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// Version of this package. It is served and is not the storage version.
const Version = "v1"

// GroupVersion is the apiVersion of the kinds of this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: v1beta2.Group, Version: Version}
}

// AddToScheme registers the kinds of this package and their lists. It never returns an error; the result has the type that
// k8sruntime.SchemeBuilder requires.
func AddToScheme(scheme *k8sruntime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(), &Kafka{}, &KafkaList{}, &KafkaNodePool{}, &KafkaNodePoolList{}, &KafkaMirrorMaker2{}, &KafkaMirrorMaker2List{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
