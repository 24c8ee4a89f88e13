package nodestorage

import (
	"errors"
	"fmt"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

const domainAttempt = "5f2c91a0b1c2d3e4"

var errDomainSilent = errors.New("connection refused")

// Domain returns the domain over which the machine is verified: three nodes with both roles, of which the first two may lose their
// storage.
func Domain() domain.Domain[Facts, roll.Data] {
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	type value = domain.Value[Facts]
	storage := func(id int32) domain.Dimension[Facts] {
		of := func(name string, s Storage) value {
			return value{Name: fmt.Sprintf("storage of node %d %s", id, name), Set: func(f *Facts) {
				n := f.Node(id)
				n.Storage, n.DownSince = s, now.Add(-time.Minute)
			}}
		}
		return domain.Of(value{}, of("lost", Lost), of("being formatted", Allowed), of("not known", Unknown))
	}
	approval := func(name, text string) value {
		return value{Name: name, Set: func(f *Facts) { f.Approved = text }}
	}
	return domain.Domain[Facts, roll.Data]{
		Base: func() Facts { return domainFacts(now) },
		Dimensions: []domain.Dimension[Facts]{
			storage(0), storage(1), replacements(),
			domain.Of(value{}, approval("approved", domainAttempt+"/pool-0"), approval("approved for node 1", domainAttempt+"/pool-1"), approval("another attempt approved", "000000/pool-0")),
			domain.Of(value{}, value{Name: "a controller behind", Set: func(f *Facts) { change(f, 2, "") }}, value{Name: "node 0 in an ISR", Set: func(f *Facts) { change(f, -1, "in") }},
				value{Name: "no replica in sync", Set: func(f *Facts) { change(f, -1, "none") }},
				value{Name: "Kafka silent", Set: func(f *Facts) {
					f.Roll.Quorum, f.Roll.Partitions = transitions.Unreadable[kafka.Quorum](errDomainSilent), transitions.Unreadable[kafka.Partitions](errDomainSilent)
				}},
				value{Name: "Kafka has not answered yet", Set: func(f *Facts) {
					f.Roll.Quorum, f.Roll.Partitions = transitions.Pending[kafka.Quorum](), transitions.Pending[kafka.Partitions]()
				}}),
		},
		Data: func(state string) []roll.Data {
			if state == Intact || state == AwaitingReplacement {
				return []roll.Data{roll.NoNode()}
			}
			return []roll.Data{{Node: 0}, {Node: 1}, {Node: 7}}
		},
		Enter: func(f *Facts, entry *lifecyclev1.Lifecycle) { f.Attempt = entry.Attempt },
	}
}

// replacements are the replacements of storage that were requested, and how far they have come.
func replacements() domain.Dimension[Facts] {
	of := func(id int32, name string, r Replacement) domain.Value[Facts] {
		return domain.Value[Facts]{Name: fmt.Sprintf("storage of node %d %s", id, name), Set: func(f *Facts) { f.Node(id).Replacement = r }}
	}
	impeded := of(0, "to be replaced, without a pool", Requested)
	impeded.Set = func(f *Facts) {
		n := f.Node(0)
		n.Replacement, n.Impediment = Requested, transitions.Problemf("PoolMissing", "KafkaNodePool pool does not exist")
	}
	return domain.Of(domain.Value[Facts]{},
		of(0, "to be replaced", Requested), of(0, "listed to be replaced", Begun), of(0, "being deleted", Releasing), of(0, "deleted", Cleared),
		of(1, "to be replaced", Requested), impeded)
}

// domainFacts returns three nodes with their storage. Node 2 leads the quorum, and the partition of nodes 0 and 1 is in sync on
// node 2.
func domainFacts(now time.Time) Facts {
	f := Facts{Roll: roll.DomainFacts(now), Namespace: "kafka", Cluster: "my-cluster", Attempt: &lifecyclev1.Attempt{ID: domainAttempt}}
	quorum := kafka.Quorum{Leader: 2, HighWatermark: 1}
	for id := range int32(3) {
		f.Nodes = append(f.Nodes, Node{ID: id, Pod: fmt.Sprintf("pool-%d", id), Controller: true, Broker: true, Storage: Kept})
		quorum.Voters = append(quorum.Voters, kafka.QuorumReplica{ID: id, LogEndOffset: 1, LastFetchMillis: now.UnixMilli(), LastCaughtUpMillis: now.UnixMilli()})
	}
	f.Roll.Quorum, f.Roll.Partitions = transitions.Known(quorum, now), transitions.Known(partitions([]int32{2}), now)
	return f
}

func partitions(isr []int32) kafka.Partitions {
	var p kafka.Partitions
	p.Add(kafka.Partition{Topic: "orders", Leader: 2, Replicas: []int32{0, 1, 2}, ISR: isr, MinISR: 1})
	return p
}

// change makes a voter fall behind, and changes the ISR of the partition.
func change(f *Facts, behind int32, isr string) {
	quorum, known := f.Roll.Quorum.Get()
	if known && behind >= 0 {
		quorum = quorum.Clone()
		quorum.Leader = 1
		quorum.Voters[behind].LastCaughtUpMillis = kafka.NotReported
		f.Roll.Quorum = transitions.Known(quorum, f.Roll.Quorum.At())
	}
	switch isr {
	case "in":
		f.Roll.Partitions = transitions.Known(partitions([]int32{0, 2}), f.Roll.Partitions.At())
	case "none":
		f.Roll.Partitions = transitions.Known(partitions(nil), f.Roll.Partitions.At())
	}
}
