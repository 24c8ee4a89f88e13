// Package kafka is what guards and actions need of a Kafka cluster, and no more:
// plain observation types, a narrow interface, and pure functions over what was
// observed.
//
// The types hold no client's types, clone with Clone where they hold slices or
// maps, and read and write as JSON, so that they can be facts, test data and
// answers of a simulator alike. Package clients/kafka/admin implements Client on
// real brokers; simulator/kafka implements it on a model. Neither is imported here:
// a machine that reads facts pulls in no protocol library.
//
// Only KRaft is meant: a Kafka without ZooKeeper, 3.7 or newer.
package kafka
