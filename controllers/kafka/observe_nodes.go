package kafka

import (
	"strconv"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
)

const (
	// defaultSessionTimeout is Kafka's default of broker.session.timeout.ms.
	defaultSessionTimeout = 9 * time.Second
)

// rollFacts returns the facts of a roll for the nodes that are desired or still have a pod.
func rollFacts(k *kafkav1beta2.Kafka, v *Snapshot, outdated func(*Node) bool) roll.Facts {
	f := roll.Facts{
		Now: v.Now, SessionTimeout: sessionTimeout(k),
		FetchTimeout: setting(k, "controller.quorum.fetch.timeout.ms", kafkaclient.DefaultQuorumFetchTimeout),
		Quorum:       v.Quorum, Partitions: v.Partitions, Brokers: v.Brokers, Members: v.Members,
		Nodes: make([]roll.Node, 0, len(v.Nodes)),
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Wanted && !n.Pod.Exists {
			continue
		}
		roles := n.RolesRunning
		if !n.Pod.Exists {
			roles = n.Roles
		}
		f.Nodes = append(f.Nodes, roll.Node{
			ID: n.ID, Pod: n.PodName, Controller: roles.Controller, Broker: roles.Broker, Ephemeral: n.MetadataStorage == StorageEphemeral,
			Running: n.Pod.Exists && !n.Pod.Terminating, Ready: n.Pod.Ready, ReadySince: n.Pod.ReadySince,
			UnreadySince: n.Pod.UnreadySince, NeverStarted: n.Pod.NeverStarted,
			StartedAt: n.Pod.StartedAt, Trouble: n.Pod.Trouble, Outdated: outdated(n),
		})
	}
	return f
}

// sessionTimeout is how long Kafka treats a silent broker as alive.
func sessionTimeout(k *kafkav1beta2.Kafka) time.Duration {
	return setting(k, "broker.session.timeout.ms", defaultSessionTimeout)
}

// setting returns a configured duration in milliseconds, or otherwise if it is unset or invalid.
func setting(k *kafkav1beta2.Kafka, name string, otherwise time.Duration) time.Duration {
	text, _ := k.Spec.Kafka.Property(name)
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	return otherwise
}

// readiness counts the brokers and controllers with a ready pod, and all controllers.
type readiness struct{ brokers, controllers, voters int }

func countReady(v *Snapshot) readiness {
	var r readiness
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Wanted && !n.Pod.Exists {
			continue
		}
		if n.Roles.Controller {
			r.voters++
		}
		if n.Pod.Ready && n.RolesRunning.Broker {
			r.brokers++
		}
		if n.Pod.Ready && n.RolesRunning.Controller {
			r.controllers++
		}
	}
	return r
}

// serves reports whether a broker and a majority of the controllers are ready.
func (r readiness) serves() bool { return r.brokers > 0 && 2*r.controllers > r.voters }
