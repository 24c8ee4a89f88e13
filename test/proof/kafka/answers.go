package kafka

import (
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
)

// serves reports whether Kafka answers questions about the cluster.
func (w *World) serves() bool { return !w.Silent && w.majority() }

func (w *World) features() kafka.Features {
	return kafka.Features{Finalized: map[string]int16{versions.FeatureMetadata: w.Level}}
}

func (w *World) quorum(now time.Time) kafka.Quorum {
	q := kafka.Quorum{Leader: kafka.NoLeader}
	for i := range w.nodes {
		n := &w.nodes[i]
		v := kafka.QuorumReplica{ID: int32(i), LastFetchMillis: kafka.NotReported, LastCaughtUpMillis: kafka.NotReported} //nolint:gosec // three
		if n.ready || w.unnoticed(n, now) && now.Before(n.left.Add(fetch)) {
			v.LastFetchMillis = now.UnixMilli()
		}
		if n.synced || w.unnoticed(n, now) && n.inSyncThen && now.Before(n.left.Add(fetch)) {
			v.LastCaughtUpMillis = now.UnixMilli()
		}
		if n.ready && n.synced && q.Leader == kafka.NoLeader {
			q.Leader = v.ID
		}
		q.Voters = append(q.Voters, v)
	}
	return q
}

func (w *World) partitions(now time.Time) kafka.Partitions {
	p := kafka.Partition{Topic: "orders", MinISR: minISR}
	for i := range w.nodes {
		p.Replicas = append(p.Replicas, int32(i)) //nolint:gosec // three
		if w.inISR(&w.nodes[i], now) {
			p.ISR = append(p.ISR, int32(i)) //nolint:gosec // three
		}
	}
	if len(p.ISR) == 0 {
		p.Leader = kafka.NoLeader
	}
	var out kafka.Partitions
	out.Add(p)
	return out
}

// inISR reports whether Kafka counts the node as in sync.
func (w *World) inISR(n *process, now time.Time) bool {
	return n.synced && !n.behind || w.unnoticed(n, now) && n.inSyncThen
}

func (w *World) brokers(now time.Time) kafka.Brokers {
	b := kafka.Brokers{FencingReported: true}
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.format == formatNew {
			continue // it has not registered yet
		}
		fencing := kafka.Fenced
		if n.ready || w.unnoticed(n, now) {
			fencing = kafka.Unfenced
		}
		b.Brokers = append(b.Brokers, kafka.Broker{ID: int32(i), Fencing: fencing}) //nolint:gosec // three
	}
	if w.staleRegistration {
		const removed = 7
		b.Brokers = append(b.Brokers, kafka.Broker{ID: removed, Fencing: kafka.Fenced})
	}
	return b
}

// member is the answer of the node in the pod, if it is asked directly.
func (w *World) member(i int, pod *Pod) roll.Membership {
	n := &w.nodes[i]
	serves := w.serves() && n.ready
	return roll.Membership{Controller: serves, Broker: serves, Answered: !w.Silent && n.runs() && pod != nil && n.pod == pod.UID}
}

// answer returns the outcome of the request.
func (w *World) answerTo(id machines.RequestID) kafkaversion.Answer {
	if r := w.request; r != nil && r.requestID == id {
		return kafkaversion.Answer{Status: r.status, Text: "refused"}
	}
	return kafkaversion.Answer{}
}

// inFlight returns the request of an earlier visit that may still take effect.
func (w *World) inFlight(current machines.RequestID, now time.Time) kafkaversion.InFlight {
	if r := w.request; r != nil && r.requestID != current && r.status == kafkaversion.Asked {
		return kafkaversion.InFlight{Until: now.Add(settle), Sent: true}
	}
	return kafkaversion.InFlight{}
}
