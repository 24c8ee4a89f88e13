package kraftscaledown

import (
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// DrainDomain returns the domain over which a drain is verified: broker 4 of five leaves, and broker 3 may leave as well.
func DrainDomain() domain.Domain[Facts, roll.Data] {
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	registered := domainRegistered("", now, true, kafka.Unfenced)
	return domain.Domain[Facts, roll.Data]{
		Base: func() Facts {
			f := domainFacts(now)
			registered.Set(&f)
			f.Drain = true
			f.Brokers = transitions.Known(withoutPast(f), now)
			return f
		},
		Dimensions: []domain.Dimension[Facts]{
			domainDrained(now),
			domain.Of(domain.Value[Facts]{}, domain.Value[Facts]{Name: "no drain is requested", Set: func(f *Facts) { f.Drain = false }},
				domain.Value[Facts]{Name: "the check is skipped as well", Set: func(f *Facts) { f.SkipCheck = true }}),
			domain.Of(domain.Value[Facts]{}, domain.Value[Facts]{Name: "broker 4 holds replicas", Set: func(f *Facts) { domainHeld(f, now) }},
				domain.Value[Facts]{Name: "the partitions cannot be read", Set: func(f *Facts) { f.Partitions = transitions.Unreadable[kafka.Partitions](errDomainSilent) }}),
			domain.OfFact(func(f *Facts) *transitions.Fact[Moves] { return &f.Moves }, []domain.Known[Moves]{
				{Name: "no move", Value: domainMoves(2)}, {Name: "too few brokers stay", Value: domainMoves(5)},
				{Name: "a move", Value: domainMoves(2, kafka.Reassignment{Topic: "orders", Replicas: []int32{0, 4, 1}, Adding: []int32{1}, Removing: []int32{4}})},
			}),
			domain.OfFact(func(f *Facts) *transitions.Fact[map[int32]bool] { return &f.Cordons }, []domain.Known[map[int32]bool]{
				{Name: "not cordoned", Value: map[int32]bool{3: false, 4: false}}, {Name: "cordoned", Value: map[int32]bool{3: false, 4: true}},
			}),
			domain.OfFact(func(f *Facts) *transitions.Fact[kafka.Features] { return &f.Features }, []domain.Known[kafka.Features]{
				{Name: "metadata below 4.3", Value: domainLevel(kafka.MetadataCordons - 1)}, {Name: "metadata of 4.3", Value: domainLevel(kafka.MetadataCordons)},
			}),
		},
		Data: func(state string) []roll.Data {
			switch state {
			case Steady, AwaitingEmpty, Refusing, DrainRefused:
				return []roll.Data{roll.NoNode()}
			}
			return []roll.Data{{Node: 4}}
		},
		Enter: func(f *Facts, _ *lifecyclev1.Lifecycle) {
			f.Answer, f.NotRegistered, f.EnteredAt = kafkaversion.Answer{}, false, f.Now
		},
		Held: func(f *Facts) []string {
			for i := range f.Nodes {
				if f.Nodes[i].Draining > 0 {
					return []string{heldDrain}
				}
			}
			return nil
		},
	}
}

// domainDrained is broker 4, whose drain is requested, was begun, or is to end.
func domainDrained(now time.Time) domain.Dimension[Facts] {
	node := func(name string, n Node) domain.Value[Facts] {
		return domain.Value[Facts]{Name: "broker 4 " + name, Set: func(f *Facts) {
			n.ID, n.Pod = 4, domainPod(4)
			f.Nodes = []Node{n}
			if n.Wanted {
				f.Wanted = append(f.Wanted, 4)
			}
		}}
	}
	down := func(name string, n Node, others ...Node) domain.Value[Facts] {
		return domain.Value[Facts]{Name: "broker 4 is down and " + name, Set: func(f *Facts) {
			domainRegistered("", now, true, kafka.Fenced).Set(f)
			f.Brokers = transitions.Known(withoutPast(*f), now)
			n.ID, n.Pod, n.Runs, n.Down = 4, domainPod(4), true, true
			f.Nodes = append([]Node{n}, others...)
			f.Wanted = f.Wanted[:4-len(others)]
			dirs, _ := f.LogDirs.Get()
			delete(dirs, 4)
		}}
	}
	return domain.Of(node("runs", Node{Runs: true}), node("is drained", Node{Runs: true, Draining: 2}), node("is drained and lost", Node{Draining: 2}),
		down("leaves", Node{}), down("is drained", Node{Draining: 2}), down("is drained, and broker 3 leaves", Node{Draining: 2}, Node{ID: 3, Pod: domainPod(3), Runs: true}),
		node("is drained and desired again", Node{Runs: true, Wanted: true, Draining: 2}),
		domain.Value[Facts]{Name: "brokers 3 and 4 leave", Set: func(f *Facts) {
			f.Wanted = []int32{0, 1, 2}
			f.Nodes = []Node{{ID: 4, Pod: domainPod(4), Runs: true, Draining: 2}, {ID: 3, Pod: domainPod(3), Runs: true}}
		}}, domain.Value[Facts]{Name: "brokers 3 and 4 leave, and a directory of broker 4 cannot be read", Set: func(f *Facts) {
			f.Wanted = []int32{0, 1, 2}
			f.Nodes = []Node{{ID: 4, Pod: domainPod(4), Runs: true, Draining: 2}, {ID: 3, Pod: domainPod(3), Runs: true}}
			dirs, _ := f.LogDirs.Get()
			dirs[4] = kafka.LogDirs{Broker: 4, Dirs: []kafka.LogDir{{Path: "/data", Error: &kafka.Refused{Code: kafka.CodeClusterAuthorizationFailed}}}}
		}})
}

// domainMoves returns a partition of broker 4 in a topic with this number of replicas, and the moves in progress.
func domainMoves(wide int, moving ...kafka.Reassignment) Moves {
	m := Moves{Replicas: []kafka.Replicas{{
		Broker: 4, Total: 1, Widest: []kafka.Width{{Replicas: wide, Partitions: 1, Topics: []string{"orders"}}},
		First: []kafka.Partition{{Topic: "orders", Replicas: []int32{0, 4}, ISR: []int32{0, 4}}},
	}}}
	for _, r := range moving {
		m.Moving.Add(r)
	}
	return m
}

// withoutPast returns the registrations without broker 9.
func withoutPast(f Facts) kafka.Brokers {
	brokers, _ := f.Brokers.Get()
	brokers.Brokers = brokers.Brokers[:5]
	return brokers
}

func domainLevel(level int16) kafka.Features {
	return kafka.Features{Finalized: map[string]int16{kafka.MetadataVersion: level}, Epoch: 1}
}
