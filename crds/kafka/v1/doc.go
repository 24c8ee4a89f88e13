// Package v1 is the newer served version of the kafka.strimzi.io API. It has the same schema as v1beta2, field by field, and
// shares its Go types for spec and status: the API server converts between the versions by changing apiVersion alone.
// It comes first in discovery, so that kubectl shows it.
//
// +kubebuilder:object:generate=true
// +groupName=kafka.strimzi.io
package v1
