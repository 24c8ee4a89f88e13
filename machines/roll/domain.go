package roll

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/transitions"
)

// The domain of a roll is the domain over which machines that include it are verified: three nodes with both roles, of which the
// first is the current one if there is one. Larger numbers of nodes are left out because they add no other situations.

var errSilent = errors.New("connection refused")

// DomainFacts returns three nodes that serve and match their desired state.
func DomainFacts(now time.Time) Facts {
	f := Facts{Now: now, SessionTimeout: 9 * time.Second, FetchTimeout: kafka.DefaultQuorumFetchTimeout}
	quorum, brokers, members := kafka.Quorum{Leader: 2}, kafka.Brokers{FencingReported: true}, Members{}
	for id := range int32(3) {
		f.Nodes = append(f.Nodes, Node{
			ID: id, Pod: fmt.Sprintf("pool-%d", id), Controller: true, Broker: true, Running: true, Ready: true,
			StartedAt: now.Add(-time.Hour), ReadySince: now.Add(-time.Hour),
		})
		quorum.Voters = append(quorum.Voters, kafka.QuorumReplica{ID: id, LastFetchMillis: now.UnixMilli(), LastCaughtUpMillis: now.UnixMilli()})
		brokers.Brokers = append(brokers.Brokers, kafka.Broker{ID: id, Fencing: kafka.Unfenced})
		members[id] = Membership{Controller: true, Broker: true}
	}
	f.Quorum, f.Brokers = transitions.Known(quorum, now), transitions.Known(brokers, now)
	f.Partitions, f.Members = transitions.Known(kafka.Partitions{}, now), transitions.Known(members, now)
	return f
}

// DomainData returns the possible current nodes in a state of the roll. Other states have none.
func DomainData(state string) []Data {
	switch state {
	case RestartingNode, AwaitingReady, AwaitingInSync:
		return []Data{NoNode(), {Node: 0}, {Node: 1}, {Node: 7}}
	default:
		return []Data{NoNode()}
	}
}

// DomainNodes returns the conditions of nodes and of Kafka. at returns the roll's facts within the machine's facts.
func DomainNodes[F any](at func(*F) *Facts) []domain.Dimension[F] {
	node := func(id int32, name string, change func(*Node)) domain.Value[F] {
		return domain.Value[F]{Name: fmt.Sprintf("node %d %s", id, name), Set: func(f *F) { change(at(f).Node(id)) }}
	}
	rest := domain.Value[F]{}
	return []domain.Dimension[F]{
		domain.Of(rest,
			node(0, "outdated", outdated), node(0, "outdated and cannot start", both(outdated, troubled)), node(0, "outdated and gone", both(outdated, gone)),
			node(0, "outdated and held", both(outdated, held)), node(0, "outdated, held and cannot start", both(outdated, held, troubled)),
			node(0, "cannot start", troubled), node(0, "gone", gone), node(0, "starting", starting), node(0, "just restarted", restarted),
			node(0, "not ready and serving", lapsed), node(0, "outdated, not ready and serving", both(outdated, lapsed)),
			node(0, "stale and cannot start", both(func(n *Node) { n.Stale = true }, troubled)),
		),
		domain.Of(rest, node(1, "outdated", outdated), node(1, "outdated and cannot start", both(outdated, troubled)), node(1, "gone", gone), node(1, "not ready and serving", lapsed)),
		domainAnswers(at),
	}
}

// domainAnswers are Kafka's answers about quorum, partitions and brokers, and the situation in which no node serves.
func domainAnswers[F any](at func(*F) *Facts) domain.Dimension[F] {
	value := func(name string, change func(*Facts)) domain.Value[F] {
		return domain.Value[F]{Name: name, Set: func(f *F) { change(at(f)) }}
	}
	return domain.Of(domain.Value[F]{},
		value("no quorum leader", func(f *Facts) {
			if q, known := f.Quorum.Get(); known {
				q.Leader = kafka.NoLeader
				f.Quorum = transitions.Known(q, f.Quorum.At())
			}
		}),
		value("a partition needs node 0", func(f *Facts) { suspect(f, []int32{0, 1}) }),
		value("node 0 out of an ISR", func(f *Facts) { suspect(f, []int32{1, 2}) }),
		value("Kafka silent", func(f *Facts) {
			f.Quorum, f.Brokers = transitions.Unreadable[kafka.Quorum](errSilent), transitions.Unreadable[kafka.Brokers](errSilent)
			f.Partitions = transitions.Unreadable[kafka.Partitions](errSilent)
		}),
		value("node 0 fenced and not fetching", func(f *Facts) {
			q, known := f.Quorum.Get()
			b, listed := f.Brokers.Get()
			if !known || !listed {
				return
			}
			q, b = q.Clone(), b.Clone()
			q.Voters[0].LastFetchMillis, q.Voters[0].LastCaughtUpMillis, b.Brokers[0].Fencing = kafka.NotReported, kafka.NotReported, kafka.Fenced
			f.Quorum, f.Brokers = transitions.Known(q, f.Quorum.At()), transitions.Known(b, f.Brokers.At())
		}),
		value("members cannot be asked", func(f *Facts) { f.Members = transitions.Unreadable[Members](errSilent) }),
		value("Kafka has not answered yet", func(f *Facts) {
			f.Quorum, f.Brokers, f.Partitions = transitions.Pending[kafka.Quorum](), transitions.Pending[kafka.Brokers](), transitions.Pending[kafka.Partitions]()
			f.Members = transitions.Pending[Members]()
		}),
		value("nothing serves", func(f *Facts) {
			for i := range f.Nodes {
				if n := &f.Nodes[i]; n.Ready {
					lapsed(n)
				}
			}
			f.Members = transitions.Known(Members{0: {}, 1: {}, 2: {}}, f.Now)
			f.Quorum, f.Brokers = transitions.Unreadable[kafka.Quorum](errSilent), transitions.Unreadable[kafka.Brokers](errSilent)
		}),
	)
}

func suspect(f *Facts, isr []int32) {
	f.Partitions = transitions.Known(kafka.Partitions{Suspect: []kafka.Partition{{Topic: "orders", Replicas: []int32{0, 1, 2}, ISR: isr, MinISR: 2}}}, f.Now)
}

func both(changes ...func(*Node)) func(*Node) {
	changes = slices.Clone(changes)
	return func(n *Node) {
		for _, change := range changes {
			change(n)
		}
	}
}

func outdated(n *Node) { n.Outdated = true }

func held(n *Node) { n.Held = transitions.Problemf("ClaimTerminating", "its claim is being deleted") }

func troubled(n *Node) {
	n.UnreadySince = n.StartedAt
	n.Ready, n.StartedAt, n.NeverStarted, n.Trouble = false, time.Time{}, true, transitions.Problemf(ImagePullFailed, "ImagePullBackOff")
}

func gone(n *Node) { n.Running, n.Ready, n.StartedAt = false, false, time.Time{} }

func starting(n *Node) {
	n.StartedAt, n.Ready = n.StartedAt.Add(time.Hour-time.Minute), false
	n.UnreadySince = n.StartedAt
}

func restarted(n *Node) { n.StartedAt = n.StartedAt.Add(time.Hour - time.Second) }

func lapsed(n *Node) { n.Ready, n.UnreadySince = false, n.StartedAt.Add(30*time.Minute) }
