// Package simulator is a world to run lifecycles against: Kafka clusters whose nodes are pods, the disks under them, and the
// kubelets that run them.
//
// State is all of it as a plain value: it is cloned, compared and moved on by whoever holds it, and nothing in it reads a
// clock, opens a socket or starts a goroutine. A plan and an exploration run on it. World puts a State behind a clock and
// loopback sockets, for operators that are processes of their own.
//
// A Kafka pod is whatever has the label strimzi.io/cluster, the annotation strimzi.io/kafka-version and a container named
// kafka. What its process does stands in its server.properties and on its disks, as with the real one; the release that runs is
// the annotation's. Nothing here knows of machines or controllers.
package simulator
