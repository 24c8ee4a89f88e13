package status

import (
	"fmt"
	"slices"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// released reports whether an id may leave the statuses: nothing is left of its node, no pool is to create it, and Kafka, which lists
// fenced brokers, does not list it.
func released(v *observation.Snapshot, id int32) bool {
	brokers, known := observation.Known(v.SeenBrokers)
	if !known || !brokers.FencingReported || v.IDs.Refusal != nil || v.Identity.Mismatch != nil || v.Node(id) != nil {
		return false
	}
	for _, a := range v.IDs.Pools {
		if a.Withheld > 0 || slices.Contains(a.Wanted, id) {
			return false
		}
	}
	_, registered := brokers.Find(id)
	return !registered
}

// withoutReleased returns the ids that may not leave the status. It does not change ids.
func withoutReleased(ids []int32, v *observation.Snapshot) []int32 {
	if !slices.ContainsFunc(ids, func(id int32) bool { return released(v, id) }) {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id int32) bool { return released(v, id) })
}

// foreignBrokers returns a warning about registered brokers that are alive and that no pod of the cluster runs; nil if there are none.
// They are never unregistered. A broker of which Kafka does not say whether it is fenced is listed only while it is alive.
func foreignBrokers(v *observation.Snapshot) *transitions.Problem {
	brokers, known := observation.Known(v.Brokers)
	if !known {
		return nil
	}
	var names []string
	for _, b := range brokers.Brokers {
		if b.Fencing != kafkaclient.Fenced && v.Node(b.ID) == nil {
			names = append(names, fmt.Sprintf("broker %d at %s:%d", b.ID, b.Host, b.Port))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return transitions.Problemf("ForeignBroker", "registered and alive, and no node of this cluster: %s. It is not unregistered: stop its process", roll.Names(names))
}
