package kafka

import (
	"fmt"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// disturbed says which nodes are not fully serving, from a live view: away, unready, out of an ISR, or restarted so recently
// that Kafka may still speak of the process before.
func disturbed(k *kafkav1beta2.Kafka, v *View) lifecycle.Disturbance {
	f := rollFacts(k, v, func(*Node) bool { return false })
	d := lifecycle.Disturbance{NothingServing: f.NothingServing}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch {
		case !n.Running || n.StartedAt.IsZero() && n.Trouble == "":
			d.Restarting = append(d.Restarting, target(n))
			fallthrough
		case !n.Ready:
			d.Down = append(d.Down, target(n))
			fallthrough
		case n.Broker && outOfSync(&f, v, n):
			d.Targets = append(d.Targets, target(n))
		}
	}
	return d
}

// target names the node to the disruption slot.
func target(n *roll.Node) string { return fmt.Sprint(n.ID) }

func outOfSync(f *roll.Facts, v *View, n *roll.Node) bool {
	if f.Now.Before(n.StartedAt.Add(f.SessionTimeout)) {
		return true
	}
	partitions, ok := known(v.Partitions)
	return ok && len(kafkaclient.OutOfSync(partitions.Suspect, n.ID)) > 0
}
