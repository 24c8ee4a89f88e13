package kafka

import (
	"fmt"
	"slices"
	"strconv"

	client "github.com/detent-dev/detent/clients/kafka"
)

// maxCreated limits the partitions that one request creates, so that no request takes much time.
const maxCreated = 100

// NewTopic is a topic without an assignment: Kafka chooses its brokers.
type NewTopic struct {
	Name                 string
	Partitions, Replicas int32
}

// CreateTopic answers CreateTopics for one topic, which the broker forwards to the leader. Without an assignment, cordoned brokers
// get no replica. The topic has the min.insync.replicas of the broker that is asked.
func (c *Cluster) CreateTopic(via int32, t NewTopic, validateOnly bool) error {
	return c.forwarded(via, RequestCreateTopics, None, func(n *Node) error {
		if len(c.partitionsOf(t.Name)) > 0 || t.Partitions < 1 || t.Partitions > maxCreated || t.Replicas < 1 {
			return fmt.Errorf("creating topic %s: the model creates new topics only, with 1 to %d partitions and a number of replicas", t.Name, maxCreated)
		}
		if why := c.unplaceable(t.Replicas); why != "" {
			return refused(client.CodeInvalidReplicationFactor, fmt.Sprintf("Unable to replicate the partition %d time(s): %s", t.Replicas, why))
		}
		minISR, err := strconv.ParseInt(inUse(n, c.Dynamic, client.ConfigMinISR), 10, 32)
		if err == nil && !validateOnly {
			c.createPartitions(t, 0, int32(minISR))
		}
		return err
	})
}

// AddPartitions answers CreatePartitions for one topic, until it has count partitions. They have as many replicas as its first one.
func (c *Cluster) AddPartitions(via int32, topic string, count int32) error {
	return c.forwarded(via, RequestCreatePartitions, None, func(*Node) error {
		has := c.partitionsOf(topic)
		if len(has) == 0 {
			return refused(client.CodeUnknownTopicOrPartition, client.CodeName(client.CodeUnknownTopicOrPartition))
		}
		from := int32(len(has))
		if count <= from || count-from > maxCreated {
			return fmt.Errorf("adding partitions to %s: the model adds 1 to %d", topic, maxCreated)
		}
		t := NewTopic{Name: topic, Partitions: count, Replicas: int32(len(has[0].Replicas))}
		if why := c.unplaceable(t.Replicas); why != "" {
			return refused(client.CodeInvalidReplicationFactor, why)
		}
		c.createPartitions(t, from, has[0].MinISR)
		return nil
	})
}

func (c *Cluster) createPartitions(t NewTopic, from, minISR int32) {
	for index := from; index < t.Partitions; index++ {
		c.CreatePartition(t.Name, index, minISR, c.place(index, t.Replicas)...)
	}
	c.Tick(c.Now)
}

func (c *Cluster) partitionsOf(topic string) []Partition {
	var found []Partition
	for _, p := range c.Partitions {
		if p.Topic == topic {
			found = append(found, p)
		}
	}
	return found
}

// place chooses the brokers of a partition as Kafka does without racks: in turn, so that each leads some partitions, and fenced ones
// last. Kafka begins with a random broker, the model with the one that the index selects.
func (c *Cluster) place(index, replicas int32) []int32 {
	unfenced, fenced := c.usable()
	var chosen []int32
	for _, ids := range [][]int32{unfenced, fenced} {
		for i := range ids {
			chosen = append(chosen, ids[(int(index)+i)%len(ids)])
		}
	}
	return chosen[:replicas]
}

// usable returns the brokers that may get a replica without an assignment.
func (c *Cluster) usable() (unfenced, fenced []int32) {
	for _, r := range c.Registrations {
		switch {
		case c.cordoned(r.ID):
		case r.Fenced:
			fenced = append(fenced, r.ID)
		default:
			unfenced = append(unfenced, r.ID)
		}
	}
	return unfenced, fenced
}

// cordoned reports whether the cordon of a broker has an effect: below MetadataCordons it has none.
func (c *Cluster) cordoned(id int32) bool {
	return c.Level(client.MetadataVersion) >= client.MetadataCordons && slices.Contains(c.Cordoned, id)
}

// unplaceable says why a partition cannot have that many replicas; empty if it can.
func (c *Cluster) unplaceable(replicas int32) string {
	unfenced, fenced := c.usable()
	registered := int32(len(unfenced) + len(fenced))
	none, few := "", ""
	if leader, _ := c.Node(c.Leader); c.binary(leader.Binary).atLeast(4, 3) {
		none, few = ", or have all their log directories cordoned", " or some brokers have all their log directories cordoned"
	}
	switch {
	case len(unfenced) == 0:
		return "All brokers are currently fenced" + none + "."
	case replicas > registered:
		return fmt.Sprintf("The target replication factor of %d cannot be reached because only %d broker(s) are registered%s.", replicas, registered, few)
	}
	return ""
}
