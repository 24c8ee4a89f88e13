package status

import (
	"fmt"

	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
)

// Reasons of warnings about nodes that differ from the specs of their pools and are not changed.
const (
	// ReasonScaleDownPending: nodes that are no longer desired keep running.
	ReasonScaleDownPending = "ScaleDownPending"
	// ReasonRolesNotChanged: nodes have a role that is not in their pool's spec, or lack one that is.
	ReasonRolesNotChanged = "RolesNotChanged"
)

// unsupportedChanges returns warnings about parts of the pools' specs that are not applied because that could lose data or the
// quorum.
func unsupportedChanges(v *observation.Snapshot) []nodeids.Warning {
	var out []nodeids.Warning
	for _, pool := range v.Objects.Pools {
		out = append(out, unsupportedChangesIn(v, pool)...)
	}
	return out
}

// unsupportedChangesIn returns the warnings of one pool.
func unsupportedChangesIn(v *observation.Snapshot, pool *kafkav1beta2.KafkaNodePool) []nodeids.Warning {
	var unwanted, otherRoles []string
	for i := range v.Nodes {
		n := &v.Nodes[i]
		switch {
		case n.Pool != pool.Name || !n.Pod.Exists:
		case !n.Wanted:
			unwanted = append(unwanted, n.PodName)
		case n.Roles != n.RolesWanted:
			otherRoles = append(otherRoles, n.PodName)
		}
	}
	var out []nodeids.Warning
	if len(unwanted) > 0 {
		out = append(out, nodeids.Warning{Pool: pool.Name, Reason: ReasonScaleDownPending, Message: fmt.Sprintf(
			"KafkaNodePool %s wants %d nodes; %s keep running, since nodes are not removed yet: set spec.replicas back to %d",
			pool.Name, pool.Spec.Replicas, roll.Names(unwanted), int(pool.Spec.Replicas)+len(unwanted))})
	}
	if len(otherRoles) > 0 {
		out = append(out, nodeids.Warning{Pool: pool.Name, Reason: ReasonRolesNotChanged, Message: fmt.Sprintf(
			"KafkaNodePool %s declares other roles than %s run with: controllers of a static quorum cannot change, and a broker with partitions is not taken away: set spec.roles back, or make another pool",
			pool.Name, roll.Names(otherRoles))})
	}
	return out
}
