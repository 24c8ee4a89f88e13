package kafka

import "slices"

// Fencing tells whether the controller has fenced a broker.
type Fencing string

const (
	// FencingUnknown is what brokers before 4.0 tell: they list no fenced brokers
	// at all, so a listed one was not fenced and an absent one may be either fenced
	// or unregistered.
	FencingUnknown Fencing = ""
	// Unfenced brokers have a live session with the controller.
	Unfenced Fencing = "unfenced"
	// Fenced brokers are registered without a live session: they lead nothing and
	// are in no ISR.
	Fenced Fencing = "fenced"
)

// Broker is one registration. It outlives the process that made it.
type Broker struct {
	ID   int32  `json:"id"`
	Host string `json:"host,omitempty"`
	Port int32  `json:"port,omitempty"`
	Rack string `json:"rack,omitempty"`
	// Fencing is FencingUnknown unless Brokers.FencingTold.
	Fencing Fencing `json:"fencing,omitempty"`
	// Epoch of the registration, which changes each time a process registers; -1
	// when it is not told. No request that an administrator may make tells it today,
	// so real clusters give -1 and a guard needs another proof of freshness.
	Epoch int64 `json:"epoch"`
}

// Brokers are the registrations a cluster reports, by DescribeCluster. Nodes that
// are controllers alone are not among them.
type Brokers struct {
	ClusterID string `json:"clusterID"`
	// FencingTold says that fenced brokers are listed and marked (DescribeCluster
	// version 2, Kafka 4.0 or newer). Without it, absence from the list is not proof
	// that a broker is unregistered.
	FencingTold bool `json:"fencingTold"`
	// Brokers by ascending id.
	Brokers []Broker `json:"brokers"`
}

// Find returns the registration of the id, if it is listed.
func (b Brokers) Find(id int32) (Broker, bool) {
	i, ok := slices.BinarySearchFunc(b.Brokers, id, func(b Broker, id int32) int { return int(b.ID) - int(id) })
	if !ok {
		return Broker{}, false
	}
	return b.Brokers[i], true
}

// IDs lists the ids of all listed registrations, ascending.
func (b Brokers) IDs() []int32 {
	ids := make([]int32, len(b.Brokers))
	for i := range b.Brokers {
		ids[i] = b.Brokers[i].ID
	}
	return ids
}

// Clone returns a copy that shares nothing with b.
func (b Brokers) Clone() Brokers {
	b.Brokers = slices.Clone(b.Brokers)
	return b
}
