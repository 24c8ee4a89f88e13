// Package kafka is a small Kafka cluster to explore the version change and the roll of nodes on: the machines, the runtime and
// its view of the API are the real ones; pods, brokers and disks are plain values that move one event at a time.
//
// Pods and the set that they are made from are objects of the API, so that caches lag behind them as they do behind any other.
// What Kafka says is true at once; what it says too early or too late after a process has gone is part of the model.
package kafka
