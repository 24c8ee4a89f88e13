// Package kafkatest says how Kafka behaves towards an administrator, as a table that
// runs on any World: on the simulated cluster in memory, on the simulated cluster behind
// sockets, and on real brokers. What all of them pass, machines may rest on.
//
// Every row was seen on real brokers of 3.9.2, 4.0.2, 4.1.2 and 4.3.1: three nodes in
// both roles with a static quorum. A row reaches its situation by what can be done to a
// real cluster too: nodes are started, stopped and killed, levels moved, topics made.
package kafkatest
