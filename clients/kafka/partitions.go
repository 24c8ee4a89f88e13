package kafka

import (
	"maps"
	"slices"
	"strconv"
)

// Values of Partition.MinISR that are no number of replicas.
const (
	// MinISRUnset is the minimum of a topic that reports none: nothing is demanded.
	MinISRUnset int32 = 0
	// MinISRUnreadable is the minimum of a topic whose configuration could not be read.
	MinISRUnreadable int32 = -1
)

// Partition is one partition as the brokers' metadata has it.
type Partition struct {
	Topic string `json:"topic"`
	Index int32  `json:"index"`
	// Leader is NoLeader while there is none.
	Leader int32 `json:"leader"`
	// Replicas in order of preference; ISR and Offline are subsets of it.
	Replicas []int32 `json:"replicas"`
	ISR      []int32 `json:"isr"`
	Offline  []int32 `json:"offline,omitempty"`
	// MinISR is min.insync.replicas of the topic.
	MinISR int32 `json:"minISR"`
}

// Name of the partition as Kafka's tools print it: topic, dash, index.
func (p Partition) Name() string { return p.Topic + "-" + strconv.Itoa(int(p.Index)) }

// Healthy partitions have a leader, every replica in sync and one more of them than
// is demanded: any one replica may go.
func (p Partition) Healthy() bool {
	return p.Leader != NoLeader && len(p.ISR) == len(p.Replicas) && len(p.Offline) == 0 &&
		p.MinISR != MinISRUnreadable && int32(len(p.ISR)) > p.MinISR
}

// Partitions is what the metadata says of all partitions. Healthy ones are only
// counted, so that the size of an observation follows the trouble and not the cluster.
type Partitions struct {
	// Total number of partitions that were looked at.
	Total int `json:"total"`
	// Replicas held by broker id. A broker that is absent holds none that the asking
	// principal may see.
	Replicas map[int32]int `json:"replicas"`
	// Suspect are the partitions that are not Healthy, by topic, then index.
	Suspect []Partition `json:"suspect,omitempty"`
}

// Add counts a partition and keeps it when it is not healthy. Partitions are expected by
// topic, then index; p takes the slices in it over.
func (p *Partitions) Add(partition Partition) {
	if p.Replicas == nil {
		p.Replicas = map[int32]int{}
	}
	p.Total++
	for _, id := range partition.Replicas {
		p.Replicas[id]++
	}
	if !partition.Healthy() {
		p.Suspect = append(p.Suspect, partition)
	}
}

// Clone returns a copy that shares nothing with p.
func (p Partitions) Clone() Partitions {
	p.Replicas = maps.Clone(p.Replicas)
	p.Suspect = slices.Clone(p.Suspect)
	for i := range p.Suspect {
		s := &p.Suspect[i]
		s.Replicas, s.ISR, s.Offline = slices.Clone(s.Replicas), slices.Clone(s.ISR), slices.Clone(s.Offline)
	}
	return p
}
