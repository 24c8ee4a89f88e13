// Package realkafka runs the table of kafkatest on real brokers: processes of the releases
// in the table, on loopback, started from jars. Its test has the build tag realkafka and
// takes minutes. The environment variable DETENT_KAFKA_JARS must name a directory that
// holds, per release, a directory <release>/lib with kafka_2.13 and all its dependencies.
package realkafka
