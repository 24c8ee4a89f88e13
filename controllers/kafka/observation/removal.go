package observation

import (
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// Removal is how a node stops being a broker of its cluster.
type Removal uint8

const (
	// Stays: the node is desired as a broker, never was one, or was not chosen for removal yet.
	Stays Removal = iota
	// Leaves: the node was chosen for removal, and its record says so.
	Leaves
	// Demoted: the node loses the broker role and remains a controller.
	Demoted
)

// Removal returns how the node leaves the brokers. A controller is never removed, because a static quorum cannot change.
func (n *Node) Removal() Removal {
	switch {
	case !n.WasBroker():
		return Stays
	case n.Wanted && n.RolesWanted == Roles{Controller: true} && n.WasController():
		return Demoted
	case !n.Wanted && n.Recorded && n.Record.Leaving && !n.WasController():
		return Leaves
	}
	return Stays
}

// WasBroker reports whether the node runs or has run as a broker, so that it may be registered and hold replicas.
func (n *Node) WasBroker() bool {
	return n.RolesRunning.Broker || n.Entry.roles.Broker || n.Recorded && n.Record.Has(kafkav1beta2.RoleBroker)
}

// WasController reports whether the node runs or has run as a controller, so that it may be a voter.
func (n *Node) WasController() bool {
	return n.RolesRunning.Controller || n.Entry.roles.Controller || n.Recorded && n.Record.Has(kafkav1beta2.RoleController)
}

// Stopped reports whether the node may not run any more: its entry and its pod are removed, and nothing recreates them.
func (n *Node) Stopped() bool { return n.Recorded && n.Record.Stop && !n.WasController() }

// RunsAsBroker reports whether a process of the node may run in the broker role: its pod has the role, its entry creates such a pod,
// or its lost entry is restored. A node that is not stopped and does not run cannot come back: its pool was deleted.
func (v *Snapshot) RunsAsBroker(n *Node) bool {
	switch {
	case n.Pod.Exists && n.RolesRunning.Broker, n.Entry.Exists && n.Entry.roles.Broker:
		return true
	case n.Pod.Exists || n.Entry.Exists:
		return false
	}
	return v.Restorable(n) && n.Roles.Broker
}

// Restorable reports whether the lost entry of a node without a pod is restored from its record.
func (v *Snapshot) Restorable(n *Node) bool {
	return n.Recorded && n.Record.Started() && !n.Stopped() && v.Pool(n.Pool) != nil && v.Misplaced(n) == nil
}
