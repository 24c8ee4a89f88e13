package rolltest

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// Led makes another controller the leader of the quorum.
func Led(by int32) Change { return quorum(func(q *kafka.Quorum) { q.Leader = by }) }

// Leaderless is a quorum without a leader.
func Leaderless(f *roll.Facts) { Led(kafka.NoLeader)(f) }

// Behind is a controller that has not caught up with the leader.
func Behind(id int32) Change {
	return quorum(func(q *kafka.Quorum) {
		for i := range q.Voters {
			if q.Voters[i].ID == id {
				q.Voters[i].LastCaughtUpMillis -= time.Minute.Milliseconds()
			}
		}
	})
}

// Refilling is a controller that lost its log and has read the given number of the hundred committed records again. The leader's
// answer shows it as caught up.
func Refilling(id int32, holds int64) Change {
	return All(each([]int32{id}, func(n *roll.Node) { n.Ephemeral = true }), quorum(func(q *kafka.Quorum) {
		q.HighWatermark = 100
		for i := range q.Voters {
			q.Voters[i].LogEndOffset = 100
			if q.Voters[i].ID == id {
				q.Voters[i].LogEndOffset = holds
			}
		}
	}))
}

// Kept is a controller whose metadata log persists when its pod is deleted.
func Kept(id int32) Change { return each([]int32{id}, func(n *roll.Node) { n.Ephemeral = false }) }

// NoVoter is a controller that the static quorum does not count.
func NoVoter(id int32) Change {
	return quorum(func(q *kafka.Quorum) {
		q.Voters = slices.DeleteFunc(q.Voters, func(v kafka.QuorumReplica) bool { return v.ID == id })
	})
}

func quorum(change func(*kafka.Quorum)) Change {
	return func(f *roll.Facts) {
		if q, known := f.Quorum.Get(); known {
			q = q.Clone()
			change(&q)
			f.Quorum = transitions.Known(q, f.Quorum.At())
		}
	}
}

// Partition is a partition with a minimum of two in-sync replicas.
func Partition(topic string, replicas, isr []int32) Change {
	return partition(kafka.Partition{Topic: topic, Replicas: replicas, ISR: isr, MinISR: 2})
}

// Spare is a partition with a minimum of one in-sync replica.
func Spare(topic string, replicas, isr []int32) Change {
	return partition(kafka.Partition{Topic: topic, Replicas: replicas, ISR: isr, MinISR: 1})
}

// Session is the time after which Kafka fences a silent broker.
func Session(d time.Duration) Change { return func(f *roll.Facts) { f.SessionTimeout = d } }

// Moved is a partition with a minimum of one in-sync replica, to which a reassignment adds a replica that is being copied.
func Moved(topic string, replicas, isr []int32, adding int32) Change {
	return partition(kafka.Partition{Topic: topic, Replicas: replicas, ISR: isr, Adding: []int32{adding}, MinISR: 1})
}

// Unjudged is a partition whose min.insync.replicas cannot be read.
func Unjudged(topic string, replicas []int32) Change {
	return partition(kafka.Partition{Topic: topic, Replicas: replicas, ISR: replicas, MinISR: kafka.MinISRUnreadable})
}

func partition(p kafka.Partition) Change {
	return func(f *roll.Facts) {
		if have, known := f.Partitions.Get(); known {
			have = have.Clone()
			have.Suspect = append(have.Suspect, p)
			f.Partitions = transitions.Known(have, f.Partitions.At())
		}
	}
}

// Fenced is a fenced broker.
func Fenced(id int32) Change {
	return func(f *roll.Facts) {
		b, known := f.Brokers.Get()
		if !known {
			return
		}
		b = b.Clone()
		for i := range b.Brokers {
			if b.Brokers[i].ID == id {
				b.Brokers[i].Fencing = kafka.Fenced
			}
		}
		f.Brokers = transitions.Known(b, f.Brokers.At())
	}
}

// Registered adds the registration of a broker that is not a node of the cluster.
func Registered(id int32) Change {
	return func(f *roll.Facts) {
		b, _ := f.Brokers.Get()
		b = b.Clone()
		b.Brokers = append(b.Brokers, kafka.Broker{ID: id, Fencing: kafka.Fenced})
		f.Brokers = transitions.Known(b, f.Brokers.At())
	}
}

// Voting adds a voter that is not a node of the cluster.
func Voting(id int32) Change {
	return quorum(func(q *kafka.Quorum) {
		q.Voters = append(q.Voters, kafka.QuorumReplica{ID: id, LastCaughtUpMillis: Now.UnixMilli()})
	})
}

// Voterless is a quorum of which Kafka lists no voters.
func Voterless(f *roll.Facts) { quorum(func(q *kafka.Quorum) { q.Voters = nil })(f) }

// Observed sets how long ago Kafka's answers were observed.
func Observed(ago time.Duration) Change {
	return func(f *roll.Facts) {
		if q, known := f.Quorum.Get(); known {
			f.Quorum = transitions.Known(q, Now.Add(-ago))
		}
		if p, known := f.Partitions.Get(); known {
			f.Partitions = transitions.Known(p, Now.Add(-ago))
		}
		if b, known := f.Brokers.Get(); known {
			f.Brokers = transitions.Known(b, Now.Add(-ago))
		}
		if m, known := f.Members.Get(); known {
			f.Members = transitions.Known(m, Now.Add(-ago))
		}
	}
}

// Without makes the facts of these needs unreadable.
func Without(needs ...transitions.Need) Change {
	return func(f *roll.Facts) {
		for _, need := range needs {
			switch need {
			case roll.NeedQuorum:
				f.Quorum = transitions.Unreadable[kafka.Quorum](ErrSilent)
			case roll.NeedPartitions:
				f.Partitions = transitions.Unreadable[kafka.Partitions](ErrSilent)
			case roll.NeedBrokers:
				f.Brokers = transitions.Unreadable[kafka.Brokers](ErrSilent)
			case roll.NeedMembers:
				f.Members = transitions.Unreadable[roll.Members](ErrSilent)
			}
		}
	}
}

// Silent makes all facts about the cluster unreadable.
func Silent(f *roll.Facts) { Without(roll.NeedQuorum, roll.NeedPartitions, roll.NeedBrokers)(f) }
