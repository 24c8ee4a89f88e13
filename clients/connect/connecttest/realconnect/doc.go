// Package realconnect runs the workers of package connecttest as real processes, with one real broker. It needs Java and the jars
// of a release of Kafka.
package realconnect
