package kafka

import (
	"fmt"
	"slices"

	client "github.com/detent-dev/detent/clients/kafka"
)

// Reassignments answers ListPartitionReassignments of all partitions, which the broker forwards to the leader.
func (c *Cluster) Reassignments(via int32) ([]client.Reassignment, error) {
	var moving []client.Reassignment
	err := c.forwarded(via, RequestReassignments, None, func(*Node) error {
		for i := range c.Partitions {
			if p := &c.Partitions[i]; p.moving() {
				moving = append(moving, client.Reassignment{Topic: p.Topic, Index: p.Index, Replicas: p.Replicas, Adding: p.Adding, Removing: p.Removing})
			}
		}
		return nil
	})
	return moving, err
}

func (p *Partition) moving() bool { return len(p.Adding)+len(p.Removing) > 0 }

// ReassignResult is the result for one partition; Refused is nil if it was accepted.
type ReassignResult struct {
	Topic   string
	Index   int32
	Refused *client.Refused
}

// Reassign answers AlterPartitionReassignments, which the broker forwards to the leader. Each partition is executed or refused on
// its own.
func (c *Cluster) Reassign(via int32, moves []client.Move) ([]ReassignResult, error) {
	var results []ReassignResult
	err := c.forwarded(via, RequestReassign, None, func(*Node) error {
		for _, m := range moves {
			results = append(results, ReassignResult{Topic: m.Topic, Index: m.Index, Refused: c.reassign(m)})
		}
		c.Tick(c.Now)
		return nil
	})
	return results, err
}

func (c *Cluster) reassign(m client.Move) *client.Refused {
	i, found := slices.BinarySearchFunc(c.Partitions, Partition{Topic: m.Topic, Index: m.Index}, comparePartitions)
	if !found {
		return refused(client.CodeUnknownTopicOrPartition, fmt.Sprintf("Unable to find a topic named %s.", m.Topic))
	}
	p := &c.Partitions[i]
	before := without(p.Replicas, p.Adding)
	if len(m.Replicas) == 0 {
		if !p.moving() {
			return refused(client.CodeNoReassignmentInProgress, client.CodeName(client.CodeNoReassignmentInProgress))
		}
		p.replace(before)
		return nil
	}
	for _, id := range m.Replicas {
		if c.registrationIndex(id) < 0 {
			return refused(client.CodeInvalidReplicaAssignment, fmt.Sprintf("The manual partition assignment includes broker %d, but no such broker is registered.", id))
		}
	}
	p.replace(slices.Concat(m.Replicas, without(before, m.Replicas)))
	p.Adding, p.Removing = without(m.Replicas, before), without(before, m.Replicas)
	if len(p.Adding) > 0 {
		p.CopiedAt = c.Now + c.Settings.Copy
	}
	return nil
}

// completeReassignment removes the replaced replicas once all the others that are to stay are in sync.
func (c *Cluster) completeReassignment(p *Partition) {
	if !p.moving() {
		return
	}
	target, isr := without(p.Replicas, p.Removing), p.ISR()
	if len(without(target, isr)) == 0 {
		p.replace(target)
		c.moveLeader(p)
	}
}

// replace ends the reassignment with these replicas. Those that stay remain in sync.
func (p *Partition) replace(replicas []int32) {
	isr := p.ISR()
	p.Replicas, p.InSync, p.Adding, p.Removing, p.CopiedAt = replicas, 0, nil, nil, 0
	for bit, id := range replicas {
		if slices.Contains(isr, id) {
			p.InSync |= 1 << bit
		}
	}
}

// without returns the ids that are not among the others.
func without(ids, others []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(ids), func(id int32) bool { return slices.Contains(others, id) })
}

// Cordon answers IncrementalAlterConfigs of the broker that is asked, for cordoned.log.dirs. A release that does not know the
// setting stores it without an effect. One that does refuses its alteration below MetadataCordons.
func (c *Cluster) Cordon(via int32, cordoned bool) error {
	return c.forwarded(via, RequestAlterConfigs, via, func(*Node) error {
		if leader, _ := c.Node(c.Leader); c.binary(leader.Binary).atLeast(4, 3) && c.Level(client.MetadataVersion) < client.MetadataCordons {
			return refused(client.CodeInvalidConfig, "The cordoned.log.dirs configuration value cannot be set because it requires metadata.version >= 4.3-IV0")
		}
		next := without(c.Cordoned, []int32{via})
		if cordoned {
			next = append(next, via)
			slices.Sort(next)
		}
		c.Cordoned = next
		return nil
	})
}
