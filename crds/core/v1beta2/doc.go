// Package v1beta2 holds StrimziPodSet, the resource from which the pods of Kafka nodes are created. Users read it and do not
// write it.
//
// +kubebuilder:object:generate=true
// +groupName=core.strimzi.io
package v1beta2
