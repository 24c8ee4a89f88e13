package roll

import (
	"fmt"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/transitions"
)

// InSync reports whether the node takes part again: a broker is registered, unfenced and in every ISR it belongs to, and a
// controller has caught up with the leader. Evidence must be newer than the process by one session timeout: until the old session
// has timed out, Kafka's answer may refer to the previous process.
func InSync(f *Facts, n *Node) transitions.Verdict {
	if n.Broker {
		if v := brokerInSync(f, n); v.Answer != transitions.Yes {
			return v
		}
	}
	if n.Controller {
		return controllerInSync(f, n)
	}
	return transitions.Allow()
}

func brokerInSync(f *Facts, n *Node) transitions.Verdict {
	partitions, known := f.Partitions.Get()
	if !known {
		return f.Partitions.Gap()
	}
	brokers, known := f.Brokers.Get()
	if !known {
		return f.Brokers.Gap()
	}
	proof := n.StartedAt.Add(f.SessionTimeout)
	if n.StartedAt.IsZero() || f.Partitions.At().Before(proof) || f.Brokers.At().Before(proof) {
		return transitions.Deny(fmt.Sprintf("broker %d has not run for one session timeout yet", n.ID))
	}
	if b, registered := brokers.Find(n.ID); !registered || b.Fencing == kafka.Fenced {
		return transitions.Deny(fmt.Sprintf("broker %d is fenced or not registered", n.ID))
	}
	if out := kafka.OutOfSync(partitions.Suspect, n.ID); len(out) > 0 {
		return transitions.Deny(fmt.Sprintf("broker %d is out of the ISR of %s", n.ID, Names(partitionNames(out))))
	}
	return transitions.Allow()
}

// refilled returns the quorum in which a controller that lost its log counts as caught up only once it holds all committed
// records again: until then it would vote for records that it does not have, and the next restart might lose them. The leader's
// snapshot that a voter is caught up depends on three clocks; this check does not. The required offset is the high watermark at
// the controller's restart. The high watermark of the answer is not lower and needs no stored value. A follower may always be
// one record behind, so the check applies only for the time that a node may take to become ready.
func refilled(f *Facts, quorum kafka.Quorum) kafka.Quorum {
	var floors map[int32]int64
	for i := range f.Nodes {
		n := &f.Nodes[i]
		young := !n.StartedAt.IsZero() && f.Quorum.At().Before(n.StartedAt.Add(readyDeadline))
		if n.Controller && n.Ephemeral && young && n.ID != quorum.Leader {
			if floors == nil {
				floors = map[int32]int64{}
			}
			floors[n.ID] = quorum.HighWatermark
		}
	}
	if floors == nil {
		return quorum
	}
	return quorum.Demanding(floors)
}

func controllerInSync(f *Facts, n *Node) transitions.Verdict {
	quorum, known := f.Quorum.Get()
	if !known {
		return f.Quorum.Gap()
	}
	if f.Quorum.At().Before(n.StartedAt) {
		return transitions.Deny(fmt.Sprintf("the quorum has not been observed since controller %d started", n.ID))
	}
	quorum = refilled(f, quorum)
	leader, led := quorum.Voter(quorum.Leader)
	self, votes := quorum.Voter(n.ID)
	switch {
	case !votes:
		// A node with the controller role that is not a voter of a static quorum is not needed for the majority.
		return transitions.Allow()
	case !led:
		return transitions.Deny("the quorum has no leader")
	case self.ID == leader.ID:
		return transitions.Allow()
	case self.LastCaughtUpMillis <= 0 || leader.LastCaughtUpMillis-self.LastCaughtUpMillis >= f.FetchTimeout.Milliseconds():
		return transitions.Deny(fmt.Sprintf("controller %d has not caught up with the leader, controller %d", n.ID, leader.ID))
	}
	return transitions.Allow()
}
