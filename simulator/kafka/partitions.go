package kafka

import (
	"slices"
	"strings"

	client "github.com/detent-dev/detent/clients/kafka"
)

// Partition is one partition of a topic.
type Partition struct {
	Topic string
	Index int32
	// MinISR is min.insync.replicas of the topic.
	MinISR int32
	// Leader is None if no replica in the ISR is up.
	Leader int32
	// Replicas in order of preference, at most 64. Shared, never modified in place.
	Replicas []int32
	// InSync has bit i set if Replicas[i] is in the ISR.
	InSync uint64
	// Adding and Removing are the replicas that a reassignment adds to and removes from Replicas, which has both. Shared, never
	// modified in place.
	Adding, Removing []int32
	// CopiedAt is when the added replicas have copied the partition, 0 if none is added.
	CopiedAt int64
}

// Lag is a replica that is kept out of the ISR.
type Lag struct {
	Topic  string
	Index  int32
	Broker int32
}

// maxReplicas is the number of bits of Partition.InSync.
const maxReplicas = 64

// CreatePartition creates a partition with the given replicas, as creating a topic with an
// explicit assignment does. All replicas that are up are in sync. It does nothing if the
// partition exists or has more than 64 replicas.
func (c *Cluster) CreatePartition(topic string, index, minISR int32, replicas ...int32) {
	i, found := slices.BinarySearchFunc(c.Partitions, Partition{Topic: topic, Index: index}, comparePartitions)
	if found || len(replicas) == 0 || len(replicas) > maxReplicas {
		return
	}
	p := Partition{Topic: topic, Index: index, MinISR: minISR, Leader: None, Replicas: slices.Clone(replicas)}
	for bit := range replicas {
		p.InSync |= 1 << bit
	}
	c.Partitions = slices.Insert(c.Partitions, i, p)
	c.settlePartitions()
}

func comparePartitions(a, b Partition) int {
	if order := strings.Compare(a.Topic, b.Topic); order != 0 {
		return order
	}
	return int(a.Index) - int(b.Index)
}

// SetLagging keeps the broker's replica out of the ISR, or permits it to catch up again.
func (c *Cluster) SetLagging(topic string, index, broker int32, lagging bool) {
	lag := Lag{Topic: topic, Index: index, Broker: broker}
	lags := slices.DeleteFunc(slices.Clone(c.Lagging), func(l Lag) bool { return l == lag })
	if lagging {
		lags = append(lags, lag)
	}
	slices.SortFunc(lags, func(a, b Lag) int {
		if order := strings.Compare(a.Topic, b.Topic); order != 0 {
			return order
		}
		return int(a.Index-b.Index)*1000 + int(a.Broker-b.Broker)
	})
	c.Lagging = lags
	c.settlePartitions()
}

// ISR returns the replicas in sync, in order of preference.
func (p Partition) ISR() []int32 {
	isr := make([]int32, 0, len(p.Replicas))
	for i, id := range p.Replicas {
		if p.InSync&(1<<i) != 0 {
			isr = append(isr, id)
		}
	}
	return isr
}

// active reports whether the controller considers the broker alive. A broker that was
// killed stays active until its session times out.
func (c *Cluster) active(id int32) bool {
	i := c.registrationIndex(id)
	return i >= 0 && !c.Registrations[i].Fenced
}

// synced reports whether the broker has caught up with the leaders of its partitions.
func (c *Cluster) synced(id int32) bool {
	i := c.nodeIndex(id)
	return i >= 0 && c.Nodes[i].Process == Running && c.Now >= c.Nodes[i].SyncedAt && c.active(id)
}

// settlePartitions shrinks and expands every ISR and elects partition leaders.
func (c *Cluster) settlePartitions() {
	if c.Leader == None {
		return
	}
	for i := range c.Partitions {
		c.settlePartition(&c.Partitions[i])
	}
}

func (c *Cluster) settlePartition(p *Partition) {
	stay := uint64(0)
	for i, id := range p.Replicas {
		if p.InSync&(1<<i) != 0 && c.active(id) && !c.lagging(p, id) {
			stay |= 1 << i
		}
	}
	switch {
	case stay != 0:
		p.InSync = stay
	case p.InSync&(p.InSync-1) != 0:
		p.InSync = lastToLeave(p)
	}
	c.moveLeader(p)
	if p.Leader == None {
		return
	}
	for i, id := range p.Replicas {
		if c.synced(id) && !c.lagging(p, id) && !(slices.Contains(p.Adding, id) && c.Now < p.CopiedAt) {
			p.InSync |= 1 << i
		}
	}
	c.completeReassignment(p)
}

// lastToLeave returns the only replica that stays in an ISR without a live broker: the
// leader, or the most preferred.
func lastToLeave(p *Partition) uint64 {
	for i, id := range p.Replicas {
		if id == p.Leader && p.InSync&(1<<i) != 0 {
			return 1 << i
		}
	}
	return p.InSync & -p.InSync
}

// moveLeader keeps a leader that is in sync and alive, otherwise elects the most preferred
// replica that is.
func (c *Cluster) moveLeader(p *Partition) {
	leader := None
	for i, id := range p.Replicas {
		if p.InSync&(1<<i) == 0 || !c.active(id) {
			continue
		}
		if id == p.Leader {
			return
		}
		if leader == None {
			leader = id
		}
	}
	p.Leader = leader
}

func (c *Cluster) lagging(p *Partition, broker int32) bool {
	for _, l := range c.Lagging {
		if l.Broker == broker && l.Index == p.Index && l.Topic == p.Topic {
			return true
		}
	}
	return false
}

// observed converts the partition to what metadata reports.
func (c *Cluster) observed(p *Partition) client.Partition {
	out := client.Partition{
		Topic: p.Topic, Index: p.Index, Leader: p.Leader, MinISR: p.MinISR,
		Replicas: slices.Clone(p.Replicas), ISR: p.ISR(),
	}
	for _, id := range p.Replicas {
		if !c.active(id) {
			out.Offline = append(out.Offline, id)
		}
	}
	return out
}
