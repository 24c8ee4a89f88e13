package kafka

import "slices"

// Fencing is whether the controller has fenced a broker.
type Fencing string

const (
	// FencingUnknown is the value for brokers before 4.0. They do not list fenced brokers,
	// so a listed broker was not fenced, and an absent broker is either fenced or
	// unregistered.
	FencingUnknown Fencing = ""
	// Unfenced brokers have a live session with the controller.
	Unfenced Fencing = "unfenced"
	// Fenced brokers are registered without a live session: they lead no partition and are
	// in no ISR.
	Fenced Fencing = "fenced"
)

// Broker is the registration of one broker. It outlives the process that registered.
type Broker struct {
	ID   int32  `json:"id"`
	Host string `json:"host,omitempty"`
	Port int32  `json:"port,omitempty"`
	Rack string `json:"rack,omitempty"`
	// Fencing is FencingUnknown unless Brokers.FencingReported.
	Fencing Fencing `json:"fencing,omitempty"`
	// Epoch of the registration, which changes each time a process registers; -1 when the
	// cluster does not report it. No admin request reports it today, so real clusters give
	// -1 and a guard needs another proof that the registration is current.
	Epoch int64 `json:"epoch"`
}

// Brokers are the registrations that a cluster reports, by DescribeCluster. Nodes that are
// only controllers are not listed.
type Brokers struct {
	ClusterID string `json:"clusterID"`
	// FencingReported is true if fenced brokers are listed and marked (DescribeCluster version
	// 2, Kafka 4.0 or newer). Otherwise absence from the list does not prove that a broker
	// is unregistered.
	FencingReported bool `json:"fencingReported"`
	// Brokers are sorted by ascending id.
	Brokers []Broker `json:"brokers"`
}

// Find returns the registration with the id, if it is listed.
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

// Clone returns a deep copy.
func (b Brokers) Clone() Brokers {
	b.Brokers = slices.Clone(b.Brokers)
	return b
}
