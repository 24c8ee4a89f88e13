// Package simulator is a simulated world to run lifecycles against: Kafka clusters whose nodes are pods, their disks, and the
// kubelets that run them.
//
// State is the whole world as a plain value. Its owner clones it, compares it and advances its time; nothing in it reads a
// clock, opens a socket or starts a goroutine. A plan and an exploration run on it. World puts a State behind a clock and
// loopback sockets, for operators that run as separate processes.
//
// A Kafka pod is a pod with the label strimzi.io/cluster, the annotation strimzi.io/kafka-version and a container named kafka.
// As with real Kafka, its server.properties and its disks determine what its process does; the annotation determines the
// release. This package does not depend on machines or controllers.
package simulator
