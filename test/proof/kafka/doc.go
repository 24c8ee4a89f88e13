// Package kafka is a model of a small Kafka cluster for the exploration of the version change, the roll of nodes and their
// storage. The machines and the runtime are the real ones, with its reads and writes of the API; pods, brokers and disks are
// plain values that change one event at a time. Comparison compares the model with the code of controllers/kafka.
//
// Pods and the set that they are created from are objects of the API, so that caches of them may be stale as of any other
// object. The answers of Kafka are current; the model includes what Kafka reports too early or too late after a process has
// ended.
package kafka
