// Package kafka defines what guards and actions need from a Kafka cluster: plain
// observation types, a narrow interface, and pure functions over observations.
//
// The types contain no types of a client library, are deep-copied by Clone where they hold
// slices or maps, and marshal to and from JSON, so that they serve as facts, test data and
// answers of a simulator. Package clients/kafka/admin implements Client on real brokers;
// simulator/kafka implements it on a model. This package imports neither: a machine that
// reads facts depends on no protocol library.
//
// Only KRaft clusters of Kafka 3.7 or newer are supported, not clusters with ZooKeeper.
package kafka
