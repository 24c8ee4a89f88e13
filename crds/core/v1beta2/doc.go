// Package v1beta2 holds StrimziPodSet, the resource that Kafka nodes' pods are made from. People read it and do not write it.
//
// +kubebuilder:object:generate=true
// +groupName=core.strimzi.io
package v1beta2
