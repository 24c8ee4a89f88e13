// Package kafka is a KRaft cluster as a plain value: what a Kafka answers an
// administrator, and what becomes of it when nodes start, stop, die and are asked to
// change, without sockets, goroutines or a clock. It knows nothing of Kubernetes and
// nothing of machines.
//
// A Cluster is meant to be copied and compared millions of times, so it holds small
// slices ordered by id and no pointers. Some of those slices are shared between
// copies: such a slice is replaced as a whole and never written in place. Each field
// says which kind it is.
//
// Time is a number of milliseconds that the caller passes in and that only Tick and
// the calls that take a now move on. What has not come due by then has not happened.
//
// Every refusal carries the code and text that real brokers of 3.9, 4.0, 4.1 and 4.3
// were seen to give; package behaviour holds them as a table that runs on this model
// and on real brokers alike.
//
// Memory implements the client interface on a value directly. Package socket puts a
// value behind loopback sockets that speak Kafka's protocol.
package kafka
