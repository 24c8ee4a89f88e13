// Package kafkatest specifies how Kafka behaves towards an admin client, as a table that
// runs on any World: the simulated cluster in memory, the simulated cluster behind sockets,
// and real brokers. Machines may rely on what passes on all of them.
//
// Every row was observed on real brokers of 3.9.2, 4.0.2, 4.1.2 and 4.3.1: three nodes in
// both roles with a static quorum. A row sets its situation up only with what a real
// cluster permits: it starts, stops and kills nodes, changes levels and creates topics.
package kafkatest
