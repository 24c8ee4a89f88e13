package kafka

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
)

const (
	// defaultSessionTimeout of a broker: broker.session.timeout.ms.
	defaultSessionTimeout = 9 * time.Second
	// lull is how long nothing must have served before there is nothing to protect: longer than the blink in which the only
	// ready node of a small cluster restarts.
	lull = 10 * time.Second
)

// rollFacts are the nodes that take part in a roll: those that are wanted, and those that still have a pod.
func rollFacts(k *kafkav1beta2.Kafka, v *View, outdated func(*Node) bool) roll.Facts {
	f := roll.Facts{
		Now: v.Now, SessionTimeout: setting(k, "broker.session.timeout.ms", defaultSessionTimeout),
		FetchTimeout: setting(k, "controller.quorum.fetch.timeout.ms", kafkaclient.DefaultQuorumFetchTimeout),
		Quorum:       v.Quorum, Partitions: v.Partitions, Brokers: v.Brokers,
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
			StartedAt: n.Pod.StartedAt, Trouble: n.Pod.Trouble, Outdated: outdated(n),
		})
	}
	f.NothingServing = nothingServing(v)
	return f
}

// setting reads a configured time in milliseconds.
func setting(k *kafkav1beta2.Kafka, name string, otherwise time.Duration) time.Duration {
	text, _ := k.Spec.Kafka.Property(name)
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	return otherwise
}

// nothingServing says whether no broker, or no majority of controllers, has been ready for a while.
func nothingServing(v *View) bool {
	ready := countReady(v)
	if ready.voters == 0 || ready.serves() {
		return false
	}
	return v.Now.Sub(lastUnready(v)) >= lull
}

// readiness counts the brokers and controllers with a ready pod, and the controllers that there are.
type readiness struct{ brokers, controllers, voters int }

func countReady(v *View) readiness {
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

// serves says whether a broker is ready and so is a majority of the controllers.
func (r readiness) serves() bool { return r.brokers > 0 && 2*r.controllers > r.voters }

// lastUnready is when a pod last stopped, or failed, to be ready; zero if no pod says.
func lastUnready(v *View) time.Time {
	var last time.Time
	for _, pod := range v.Objects.Pods {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue && c.LastTransitionTime.After(last) {
				last = c.LastTransitionTime.Time
			}
		}
	}
	return last
}
