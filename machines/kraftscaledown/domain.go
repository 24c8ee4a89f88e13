package kraftscaledown

import (
	"errors"
	"fmt"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

var errDomainSilent = errors.New("connection refused")

// Domain returns the domain over which the machine is verified: broker 4 of five leaves, broker 3 may leave as well, and broker 9
// may be registered from the past.
func Domain() domain.Domain[Facts, roll.Data] {
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	type value = domain.Value[Facts]
	set := func(name string, change func(*Facts)) value { return value{Name: name, Set: change} }
	node := func(name string, n Node) value {
		return set("broker 4 "+name, func(f *Facts) {
			n.ID, n.Pod = 4, domainPod(4)
			f.Nodes = []Node{n}
			if n.Wanted {
				f.Wanted = append(f.Wanted, 4)
			}
		})
	}
	answer := func(name string, status kafkaversion.Status) value {
		return set(name, func(f *Facts) { f.Answer.Status = status })
	}
	return domain.Domain[Facts, roll.Data]{
		Base: func() Facts { return domainFacts(now) },
		Dimensions: []domain.Dimension[Facts]{
			domain.Of(value{}, node("runs", Node{Runs: true}),
				set("broker 4 may never have started", func(f *Facts) {
					f.Nodes = []Node{{ID: 4, Pod: domainPod(4), Runs: true, Unused: true}}
					dirs, _ := f.LogDirs.Get()
					delete(dirs, 4)
				}), node("stopped and runs", Node{Runs: true, Stopped: true}), node("stopped", Node{Stopped: true}),
				node("lost", Node{}), node("stopped and desired again", Node{Wanted: true, Stopped: true}),
				set("brokers 3 and 4 leave", func(f *Facts) {
					f.Wanted = []int32{0, 1, 2}
					f.Nodes = []Node{{ID: 4, Pod: domainPod(4), Stopped: true}, {ID: 3, Pod: domainPod(3), Runs: true}}
				})),
			domain.Of(value{}, set("broker 4 holds replicas", func(f *Facts) { domainHeld(f, now) }),
				set("the partitions cannot be read", func(f *Facts) { f.Partitions = transitions.Unreadable[kafka.Partitions](errDomainSilent) }),
				set("the partitions are not read yet", func(f *Facts) { f.Partitions = transitions.Pending[kafka.Partitions]() }),
				set("the check is skipped", func(f *Facts) { domainHeld(f, now); f.SkipCheck = true })),
			domain.Of(domainRegistered("broker 4 fenced", now, true, kafka.Fenced), domainRegistered("broker 4 alive", now, true, kafka.Unfenced), domainRegistered("broker 4 unregistered", now, true, ""),
				domainRegistered("Kafka before 4.0, broker 4 not listed", now, false, ""), domainRegistered("Kafka before 4.0, broker 4 alive", now, false, kafka.Unfenced),
				set("the registrations cannot be read", func(f *Facts) { f.Brokers = transitions.Unreadable[kafka.Brokers](errDomainSilent) })),
			domain.Of(value{}, answer("asked", kafkaversion.Asked), answer("done", kafkaversion.Done), answer("refused", kafkaversion.Refused), answer("answer lost", kafkaversion.Unknown),
				set("not registered", func(f *Facts) { f.Answer.Status, f.NotRegistered = kafkaversion.Refused, true }),
				set("an earlier request in doubt", func(f *Facts) { f.InFlight = kafkaversion.InFlight{Until: now.Add(time.Minute)} }),
				set("just entered", func(f *Facts) { f.EnteredAt = now }),
				set("a controller is not desired", func(f *Facts) {
					f.Refusal = transitions.Problemf("ReplicasCannotChange", "the controllers of a static quorum cannot change")
				})),
		},
		Data: func(state string) []roll.Data {
			switch state {
			case Steady, AwaitingEmpty, Refusing:
				return []roll.Data{roll.NoNode()}
			case AwaitingSettled: // may be inferred
				return []roll.Data{roll.NoNode(), {Node: 4}, {Node: 9}}
			}
			return []roll.Data{{Node: 4}, {Node: 9}}
		},
		Enter: func(f *Facts, _ *lifecyclev1.Lifecycle) {
			f.Answer, f.NotRegistered, f.EnteredAt = kafkaversion.Answer{}, false, f.Now
		},
	}
}

func domainPod(id int32) string { return fmt.Sprintf("my-cluster-pool-%d", id) }

// domainFacts returns four desired brokers, and nothing that leaves.
func domainFacts(now time.Time) Facts {
	return Facts{
		Now: now, SessionTimeout: 9 * time.Second, Wanted: []int32{0, 1, 2, 3}, Pause: time.Minute, EnteredAt: now.Add(-time.Hour),
		Partitions: transitions.Known(kafka.Partitions{Total: 4, Replicas: map[int32]int{0: 4, 1: 4, 2: 4}}, now),
		Features:   transitions.Known(kafka.Features{}, now), Moves: transitions.Known(Moves{}, now), Cordons: transitions.Known(map[int32]bool{}, now),
		LogDirs: transitions.Known(map[int32]kafka.LogDirs{
			3: {Broker: 3, Dirs: []kafka.LogDir{{Path: "/data"}}}, 4: {Broker: 4, Dirs: []kafka.LogDir{{Path: "/data"}}},
		}, now),
	}
}

func domainHeld(f *Facts, now time.Time) {
	f.Partitions = transitions.Known(kafka.Partitions{Total: 4, Replicas: map[int32]int{0: 4, 4: 1}}, now)
}

// domainRegistered sets the registrations: broker 4 with the fencing, or unregistered without one. Kafka from 4.0 on also lists
// broker 9, which is left from the past.
func domainRegistered(name string, now time.Time, marked bool, four kafka.Fencing) domain.Value[Facts] {
	return domain.Value[Facts]{Name: name, Set: func(f *Facts) {
		b := kafka.Brokers{FencingReported: marked}
		fencing := func(of kafka.Fencing) kafka.Fencing {
			if marked {
				return of
			}
			return kafka.FencingUnknown
		}
		for id := range int32(4) {
			b.Brokers = append(b.Brokers, kafka.Broker{ID: id, Fencing: fencing(kafka.Unfenced)})
		}
		if four != "" {
			b.Brokers = append(b.Brokers, kafka.Broker{ID: 4, Fencing: fencing(four)})
		}
		if marked {
			b.Brokers = append(b.Brokers, kafka.Broker{ID: 9, Fencing: kafka.Fenced})
		}
		f.Brokers = transitions.Known(b, now)
	}}
}
