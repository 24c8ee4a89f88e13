// Package realkafka runs the table of kafkatest on real brokers: processes of the
// releases in it, on loopback, from jars alone. Its test has the build tag realkafka,
// takes minutes, and wants in DETENT_KAFKA_JARS a directory that holds, per release, a
// directory <release>/lib with kafka_2.13 and everything it depends on.
package realkafka
