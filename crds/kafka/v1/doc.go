// Package v1 is the newer served version of the kafka.strimzi.io API. It has the schema of v1beta2, field by field, and
// shares its Go types for spec and status: the API server turns one version into the other by changing apiVersion alone.
// It comes first in discovery, so that it is what kubectl shows.
//
// +kubebuilder:object:generate=true
// +groupName=kafka.strimzi.io
package v1
