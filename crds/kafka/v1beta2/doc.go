// Package v1beta2 holds the resources that describe a Kafka cluster in KRaft mode: Kafka, the cluster as a whole, and
// KafkaNodePool, a group of its nodes that are alike. The names, places and meanings of the fields are those of the
// kafka.strimzi.io API, so that resources written for it apply unchanged; v1beta2 is the version that is stored.
//
// Every field of that API is named here. The ones that Detent does nothing with say "Not used" first in their
// description, keep whatever is written in them, and are listed by UnusedFields so that a person is told once.
// Fields that Detent adds of its own are images and imagePullSecrets, and in status lifecycles and summary.
//
// +kubebuilder:object:generate=true
// +groupName=kafka.strimzi.io
package v1beta2
