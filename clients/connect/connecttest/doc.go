// Package connecttest specifies how Kafka Connect behaves towards a client of its REST API, as a table that runs on any World: the
// simulated workers, and real ones. Machines may rely on what passes on both.
//
// The connectors of the table are those of MirrorMaker 2. One Kafka cluster is source and target: a topic is mirrored to a topic
// with the alias of the source before its name.
package connecttest
