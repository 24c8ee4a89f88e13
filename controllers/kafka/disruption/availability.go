package disruption

import (
	"errors"
	"fmt"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

var errNotAsked = errors.New("it was not asked for in this pass")

// Availability returns which nodes are available, from a live observation. A node without an answer from Kafka counts as serving.
func Availability(k *kafkav1beta2.Kafka, v *observation.Snapshot) lifecycle.Availability {
	f := servingFacts(k, v)
	a := lifecycle.Availability{NothingServing: roll.NothingServing(&f).Answer == transitions.Yes}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		a.Members = append(a.Members, lifecycle.Member{
			Name: Target(n.ID), Title: n.Name(), Instance: string(v.Node(n.ID).Pod.UID),
			Running: n.Running && (!n.StartedAt.IsZero() || n.Trouble != nil), Lost: n.Stranded(), Ready: n.Ready,
			Serving: serving(&f, n), InSync: inSync(&f, n),
		})
	}
	return a
}

// Target is the name of a node in the disruption lock.
func Target(id int32) string { return fmt.Sprint(id) }

// servingFacts returns the facts of a roll. Facts that were not observed are unreadable.
func servingFacts(k *kafkav1beta2.Kafka, v *observation.Snapshot) roll.Facts {
	f := facts.Roll(k, v, func(*observation.Node) bool { return false })
	f.Quorum, f.Partitions = orUnreadable(f.Quorum), orUnreadable(f.Partitions)
	f.Brokers, f.Members = orUnreadable(f.Brokers), orUnreadable(f.Members)
	return f
}

func orUnreadable[T any](fact transitions.Fact[T]) transitions.Fact[T] {
	if !fact.Asked() {
		return transitions.Unreadable[T](errNotAsked)
	}
	return fact
}

// serving reports whether the node takes part in the Kafka cluster. For a node that is not ready, Yes requires evidence that is
// newer than the loss of its readiness.
func serving(f *roll.Facts, n *roll.Node) transitions.Answer {
	answer := roll.Serving(f, n).Answer
	if answer == transitions.Yes && !n.Ready && !roll.Available(f, n) {
		return transitions.Unknown
	}
	return answer
}

// inSync reports whether the node is in the ISR of everything it holds, by evidence that is newer than its process.
func inSync(f *roll.Facts, n *roll.Node) bool {
	if !n.Broker {
		return true
	}
	if f.Now.Before(n.StartedAt.Add(f.SessionTimeout)) {
		return false
	}
	partitions, known := f.Partitions.Get()
	return !known || len(kafkaclient.OutOfSync(partitions.Suspect, n.ID)) == 0
}
