package kafka

import "slices"

// Replicas are the partitions that have a replica on one broker, by the brokers' metadata. While a replica is being moved
// away, the partition is still one of them.
type Replicas struct {
	Broker int32 `json:"broker"`
	// Total is the number of the partitions.
	Total int `json:"total"`
	// First are the first partitions by topic, then index, at most FirstPartitions.
	First []Partition `json:"first,omitempty"`
	// Widest counts the partitions by their number of replicas, most replicas first.
	Widest []Width `json:"widest,omitempty"`
}

// FirstPartitions is the maximum number of partitions that Replicas and Reassignments list.
const FirstPartitions = 100

// Width is the partitions that have a number of replicas.
type Width struct {
	// Replicas is the number of replicas, without those that a reassignment is removing.
	Replicas   int `json:"replicas"`
	Partitions int `json:"partitions"`
	// Topics are the names of the first topics of the partitions, sorted, at most FirstReplicas.
	Topics []string `json:"topics"`
}

// Add counts the partition if the broker has a replica of it. Partitions must be added by topic, then index. leaving is the
// number of its replicas that a reassignment is removing. Partitions without a leader leave First to others: they cannot be moved.
func (r *Replicas) Add(p Partition, leaving int) {
	if !slices.Contains(p.Replicas, r.Broker) {
		return
	}
	r.Total++
	if len(r.First) >= FirstPartitions && p.Leader != NoLeader {
		if at := slices.IndexFunc(r.First, func(p Partition) bool { return p.Leader == NoLeader }); at >= 0 {
			r.First = slices.Delete(r.First, at, at+1)
		}
	}
	if len(r.First) < FirstPartitions {
		r.First = append(r.First, p)
	}
	wide := len(p.Replicas) - leaving
	at, found := slices.BinarySearchFunc(r.Widest, wide, func(w Width, wide int) int { return wide - w.Replicas })
	if !found {
		r.Widest = slices.Insert(r.Widest, at, Width{Replicas: wide})
	}
	w := &r.Widest[at]
	w.Partitions++
	if len(w.Topics) < FirstReplicas && !slices.Contains(w.Topics, p.Topic) {
		w.Topics = append(w.Topics, p.Topic)
	}
}

// Clone returns a deep copy.
func (r Replicas) Clone() Replicas {
	r.First = slices.Clone(r.First)
	for i := range r.First {
		p := &r.First[i]
		p.Replicas, p.ISR, p.Offline = slices.Clone(p.Replicas), slices.Clone(p.ISR), slices.Clone(p.Offline)
	}
	r.Widest = slices.Clone(r.Widest)
	for i := range r.Widest {
		r.Widest[i].Topics = slices.Clone(r.Widest[i].Topics)
	}
	return r
}

// Reassignment is a partition whose replicas are being moved.
type Reassignment struct {
	Topic string `json:"topic"`
	Index int32  `json:"index"`
	// Replicas are all replicas, those that are being added and removed included.
	Replicas []int32 `json:"replicas"`
	Adding   []int32 `json:"adding,omitempty"`
	Removing []int32 `json:"removing,omitempty"`
}

// Reassignments are the partitions whose replicas are being moved, by anyone.
type Reassignments struct {
	Total int `json:"total"`
	// First are the first by topic, then index, at most FirstPartitions.
	First []Reassignment `json:"first,omitempty"`
}

// Add counts a reassignment. Reassignments must be added by topic, then index.
func (r *Reassignments) Add(m Reassignment) {
	r.Total++
	if len(r.First) < FirstPartitions {
		r.First = append(r.First, m)
	}
}

// Clone returns a deep copy.
func (r Reassignments) Clone() Reassignments {
	r.First = slices.Clone(r.First)
	for i := range r.First {
		m := &r.First[i]
		m.Replicas, m.Adding, m.Removing = slices.Clone(m.Replicas), slices.Clone(m.Adding), slices.Clone(m.Removing)
	}
	return r
}

// Move requests the replicas of one partition. No replicas cancel its reassignment: the replicas from before it stay.
type Move struct {
	Topic    string  `json:"topic"`
	Index    int32   `json:"index"`
	Replicas []int32 `json:"replicas,omitempty"`
}
