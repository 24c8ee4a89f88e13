package kafka

import (
	"maps"
	"slices"
	"strconv"
)

// Values of Partition.MinISR that are not a number of replicas.
const (
	// MinISRUnset is the value for a topic that reports no min.insync.replicas: there is no
	// minimum.
	MinISRUnset int32 = 0
	// MinISRUnreadable is the value for a topic whose configuration could not be read.
	MinISRUnreadable int32 = -1
)

// Partition is one partition as reported by the brokers' metadata.
type Partition struct {
	Topic string `json:"topic"`
	Index int32  `json:"index"`
	// Leader is NoLeader if there is none.
	Leader int32 `json:"leader"`
	// Replicas are in order of preference; ISR and Offline are subsets of Replicas.
	Replicas []int32 `json:"replicas"`
	ISR      []int32 `json:"isr"`
	Offline  []int32 `json:"offline,omitempty"`
	// MinISR is min.insync.replicas of the topic.
	MinISR int32 `json:"minISR"`
	// Adding are the replicas that a reassignment adds, a subset of Replicas. Until such a replica has caught up, it is in no ISR
	// although no broker lost anything. Empty also if the reassignments could not be read.
	Adding []int32 `json:"adding,omitempty"`
}

// Name is the name of the partition as Kafka's tools print it: topic, dash, index.
func (p Partition) Name() string { return p.Topic + "-" + strconv.Itoa(int(p.Index)) }

// copying reports whether the broker's replica is being added and has not caught up yet: the partition neither needs nor misses it.
func (p *Partition) copying(broker int32) bool {
	return slices.Contains(p.Adding, broker) && !slices.Contains(p.ISR, broker)
}

// Healthy reports whether the partition has a leader, every replica is in sync, and more
// replicas are in sync than min.insync.replicas, and more than one: any one replica may be
// stopped, and another one has all data.
func (p Partition) Healthy() bool {
	return p.Leader != NoLeader && len(p.ISR) == len(p.Replicas) && len(p.Offline) == 0 &&
		p.MinISR != MinISRUnreadable && int32(len(p.ISR)) > max(p.MinISR, 1)
}

// Partitions is the metadata of all partitions. Healthy ones are only counted, so that the
// size of an observation depends on the number of unhealthy partitions, not on the size of
// the cluster.
type Partitions struct {
	// Total is the number of partitions that were read.
	Total int `json:"total"`
	// Replicas is the number of replicas by broker id. A broker that is absent holds none
	// that the client's principal may describe.
	Replicas map[int32]int `json:"replicas"`
	// Suspect are the partitions that are not Healthy, by topic, then index.
	Suspect []Partition `json:"suspect,omitempty"`
}

// Add counts a partition and stores it if it is not healthy. Partitions must be added by
// topic, then index. p takes ownership of the slices in partition.
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

// ReplicaMissing reports whether any replica is out of the ISR. Only then the reassignments change what is known of the partitions.
func (p *Partitions) ReplicaMissing() bool {
	return slices.ContainsFunc(p.Suspect, func(s Partition) bool { return len(s.ISR) < len(s.Replicas) })
}

// MarkAdding marks the replicas that the reassignments add. They must be read after the partitions: a replica that was added in
// between then counts as one that was lost, which forbids more, and never the other way round.
func (p *Partitions) MarkAdding(moving []Reassignment) {
	adding := make(map[string][]int32, len(moving))
	for _, m := range moving {
		adding[Partition{Topic: m.Topic, Index: m.Index}.Name()] = m.Adding
	}
	for i := range p.Suspect {
		s := &p.Suspect[i]
		if ids := adding[s.Name()]; len(ids) > 0 {
			s.Adding = slices.Clone(ids)
		}
	}
}

// Clone returns a deep copy.
func (p Partitions) Clone() Partitions {
	p.Replicas = maps.Clone(p.Replicas)
	p.Suspect = slices.Clone(p.Suspect)
	for i := range p.Suspect {
		s := &p.Suspect[i]
		s.Replicas, s.ISR, s.Offline = slices.Clone(s.Replicas), slices.Clone(s.ISR), slices.Clone(s.Offline)
		s.Adding = slices.Clone(s.Adding)
	}
	return p
}
