// Package kafka is a KRaft cluster as a plain value. It models what Kafka answers an admin
// client, and how the cluster changes when nodes start, stop, fail and process requests,
// without sockets, goroutines or a clock. It does not depend on Kubernetes or on machines.
//
// A Cluster is copied and compared millions of times in an exploration, so it holds small
// slices sorted by id. Some of those slices are shared between copies: such a slice is
// replaced as a whole and never modified in place. The comment of each field says whether
// it is owned or shared.
//
// Time is a number of milliseconds. Only Tick, and the methods with a parameter now,
// advance it. An event happens when the time reaches its due time.
//
// Every refusal has the code and message that real brokers of 3.9, 4.0, 4.1 and 4.3
// returned. Package clients/kafka/kafkatest holds them as a table that runs on this model
// and on real brokers.
//
// Memory implements the client interface on a value directly. Package wire puts a value
// behind loopback sockets that speak Kafka's protocol.
package kafka
