package simulator

import "github.com/detent-dev/detent/simulator/kafka"

// Topic is a topic that is created with the brokers' defaults.
type Topic struct {
	Name       string
	Partitions int32
}

// DefaultTopics are sufficient for every broker of a small cluster to lead some partitions and follow
// others.
func DefaultTopics() []Topic {
	return []Topic{{Name: "audit", Partitions: 3}, {Name: "orders", Partitions: 12}, {Name: "payments", Partitions: 6}}
}

// makeTopics creates the topics once the number of running brokers is at least their replication factor.
func (s *State) makeTopics(c *Cluster) {
	if c.created || len(s.options.Topics) == 0 || c.Kafka.Leader == kafka.None {
		return
	}
	var brokers []int32
	replication, minISR := int32(0), int32(0)
	for i := range c.Kafka.Nodes {
		if n := &c.Kafka.Nodes[i]; n.Broker && n.Process == kafka.Running {
			brokers = append(brokers, n.ID)
			seat := c.seat(n.ID)
			replication, minISR = seat.replication, seat.minISR
		}
	}
	if replication == 0 || int32(len(brokers)) < replication {
		return
	}
	for _, topic := range s.options.Topics {
		for index := range topic.Partitions {
			replicas := make([]int32, replication)
			for i := range replicas {
				replicas[i] = brokers[(int(index)+i)%len(brokers)]
			}
			c.Kafka.CreatePartition(topic.Name, index, minISR, replicas...)
		}
	}
	c.created = true
}
