package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// Group of the API, shared by every served version.
	Group = "kafka.strimzi.io"
	// Version of this package. It is the storage version and the version in owner references.
	Version = "v1beta2"
	// KindKafka is the kind of Kafka.
	KindKafka = "Kafka"
	// KindKafkaNodePool is the kind of KafkaNodePool.
	KindKafkaNodePool = "KafkaNodePool"
	// KindKafkaMirrorMaker2 is the kind of KafkaMirrorMaker2.
	KindKafkaMirrorMaker2 = "KafkaMirrorMaker2"
)

// GroupVersion is the apiVersion of the kinds of this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: Group, Version: Version}
}

// AddToScheme registers the kinds of this package and their lists. It never returns an error; the result has the type that
// k8sruntime.SchemeBuilder requires.
func AddToScheme(scheme *k8sruntime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(), &Kafka{}, &KafkaList{}, &KafkaNodePool{}, &KafkaNodePoolList{}, &KafkaMirrorMaker2{}, &KafkaMirrorMaker2List{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
