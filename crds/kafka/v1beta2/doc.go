// Package v1beta2 holds the resources that describe a Kafka cluster in KRaft mode: Kafka, the cluster as a whole, and
// KafkaNodePool, a group of nodes with the same specification. The names, places and meanings of the fields are those of the
// kafka.strimzi.io API, so that resources written for it apply unchanged. v1beta2 is the storage version.
//
// The types have every field of that API. The description of a field that Detent does not act on starts with "Not used". Such
// a field is stored as written, and UnusedFields lists it so that a Warning can report it.
// The fields that Detent adds are images and imagePullSecrets in the spec, and lifecycles and summary in the status.
//
// +kubebuilder:object:generate=true
// +groupName=kafka.strimzi.io
package v1beta2
