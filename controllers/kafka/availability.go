package kafka

import (
	"errors"
	"fmt"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

var errNotAsked = errors.New("it was not asked for in this pass")

// availability says which nodes are available, from a live view. A node that Kafka was not asked about counts as serving.
func availability(k *kafkav1beta2.Kafka, v *View) lifecycle.Availability {
	f := servingFacts(k, v)
	a := lifecycle.Availability{NothingServing: roll.NothingServing(&f).Answer == transitions.Yes}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		a.Members = append(a.Members, lifecycle.Member{
			Name: disruptionTarget(n.ID), Instance: string(v.Node(n.ID).Pod.UID),
			Running: n.Running && (!n.StartedAt.IsZero() || n.Trouble != ""), Ready: n.Ready,
			Serving: serving(&f, n), InSync: inSync(&f, n),
		})
	}
	return a
}

// disruptionTarget names a node to the disruption lock.
func disruptionTarget(id int32) string { return fmt.Sprint(id) }

// servingFacts are the facts of a roll with what was not asked for as unreadable.
func servingFacts(k *kafkav1beta2.Kafka, v *View) roll.Facts {
	f := rollFacts(k, v, func(*Node) bool { return false })
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

// serving says whether Kafka counts on the node. That a node which is not ready serves is said only by evidence that is newer
// than the loss of its readiness.
func serving(f *roll.Facts, n *roll.Node) transitions.Answer {
	answer := roll.Serving(f, n).Answer
	if answer == transitions.Yes && !n.Ready && !roll.Available(f, n) {
		return transitions.Unknown
	}
	return answer
}

// inSync says whether the node is in the ISR of everything it holds, by evidence that is newer than its process.
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
