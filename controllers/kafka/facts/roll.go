package facts

import (
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// ReasonClaimTerminating: a claim is being deleted that a pod uses.
const ReasonClaimTerminating transitions.Reason = "ClaimTerminating"

// hold marks the nodes with a claim that is deleted as soon as their pods end: a restart would lose the data. Their storage is replaced on
// request, which does not depend on this.
func hold(v *observation.Snapshot, f *roll.Facts) {
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if claim := v.TerminatingClaim(v.Node(n.ID)); claim != "" {
			n.Held = transitions.Problemf(ReasonClaimTerminating, "a restart would complete the deletion of PersistentVolumeClaim %s. Copy or move its data while the pod runs, then annotate the pod with %s=true", claim, labels.DeletePodAndPVC)
		}
	}
}

// Roll returns the facts of a roll for the nodes that are desired or still have a pod.
func Roll(k *kafkav1beta2.Kafka, v *observation.Snapshot, outdated func(*observation.Node) bool) roll.Facts {
	f := roll.Facts{
		Now: v.Now, SessionTimeout: observation.SessionTimeout(k, v),
		FetchTimeout: observation.FetchTimeout(k, v), Quorum: v.Quorum, Partitions: v.Partitions, Brokers: v.Brokers, Members: v.Members,
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
			ID: n.ID, Pod: n.PodName, Controller: roles.Controller, Broker: roles.Broker, Ephemeral: n.MetadataStorage == observation.StorageEphemeral,
			Running: n.Pod.Exists && !n.Pod.Terminating, Ready: n.Pod.Ready, ReadySince: n.Pod.ReadySince,
			UnreadySince: n.Pod.UnreadySince, RefusedSince: n.Pod.RefusedSince, NeverStarted: n.Pod.NeverStarted,
			StartedAt: n.Pod.StartedAt, Trouble: n.Pod.Trouble, Outdated: outdated(n),
		})
	}
	return f
}
