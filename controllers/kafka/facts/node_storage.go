package facts

import (
	"strings"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// NodeStorage takes the facts of the storage of the nodes from the snapshot.
func NodeStorage(k *kafkav1beta2.Kafka, v *observation.Snapshot, ask machines.ObserveOptions) nodestorage.Facts {
	f := nodestorage.Facts{
		Namespace: k.Namespace, Cluster: k.Name,
		Roll: asked(Roll(k, v, func(*observation.Node) bool { return false }), ask),
	}
	if ask.RequestID.State != nodestorage.Intact {
		f.Attempt = ask.Attempt
	}
	if approved, ok := strings.CutPrefix(k.Annotations[labels.Approve], approveFormat); ok {
		f.Approved = approved
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		replacement := replacementOf(v, n)
		if replacement == nodestorage.None && (n.Recorded && len(n.Record.Volumes) == 0 || !n.Recorded && !n.HasClaims) {
			continue // it has never run on persistent storage
		}
		roles := observation.RolesOf(n.Record.Roles)
		f.Nodes = append(f.Nodes, nodestorage.Node{
			ID: n.ID, Pod: n.PodName, Storage: storageOf(n), Directories: strings.Fields(n.Pod.Volumes.Lost), DownSince: n.Pod.UnreadySince, Trouble: n.Pod.Trouble,
			Replacement: replacement, Impediment: impediment(k, v, n, replacement),
			// The roles of its record and of its pod count too: it may vote or hold replicas in them.
			Controller: roles.Controller || n.Roles.Controller || n.RolesRunning.Controller, Broker: roles.Broker || n.Roles.Broker || n.RolesRunning.Broker,
		})
	}
	return f
}

func storageOf(n *observation.Node) nodestorage.Storage {
	switch {
	case !n.Recorded:
		return nodestorage.Unknown
	case n.Record.Reformatted():
		return nodestorage.Allowed
	case n.Pod.Volumes.Lost != "" && n.Record.Format == record.FormatDone:
		return nodestorage.Lost
	case n.Pod.Volumes.Accepted:
		return nodestorage.Kept
	}
	return nodestorage.Unknown
}

// asked returns the facts of a roll with only those answers of Kafka that are needed.
func asked(f roll.Facts, ask machines.ObserveOptions) roll.Facts {
	f.Quorum, f.Partitions = ifWanted(f.Quorum, ask, roll.NeedQuorum), ifWanted(f.Partitions, ask, roll.NeedPartitions)
	f.Brokers, f.Members = ifWanted(f.Brokers, ask, roll.NeedBrokers), ifWanted(f.Members, ask, roll.NeedMembers)
	return f
}

func ifWanted[T any](fact transitions.Fact[T], ask machines.ObserveOptions, need transitions.Need) transitions.Fact[T] {
	if !ask.Wants(need) {
		return transitions.Fact[T]{}
	}
	return fact
}

// replacementOf returns how far the replacement of the node's storage has come. The record is the evidence once it lists what is
// replaced: the pod with the request may be gone.
func replacementOf(v *observation.Snapshot, n *observation.Node) nodestorage.Replacement {
	switch {
	case n.Stopped(), n.Recorded && n.Record.Reformatted():
		return nodestorage.None
	case !n.Recorded || !n.Record.Replacing():
		if n.Pod.ReplacementDue && !n.Pod.Terminating {
			return nodestorage.Requested
		}
		return nodestorage.None
	}
	left := v.Replaced(n)
	switch {
	case left.Undeleted:
		return nodestorage.Begun
	case left.Deleted:
		return nodestorage.Releasing
	}
	return nodestorage.Cleared
}

// impediment returns why the claims of the node would not be created again; nil if they would.
func impediment(k *kafkav1beta2.Kafka, v *observation.Snapshot, n *observation.Node, replacement nodestorage.Replacement) *transitions.Problem {
	if replacement == nodestorage.None {
		return nil
	}
	if v.Pool(n.Pool) == nil {
		return transitions.Problemf("PoolMissing", "KafkaNodePool %s does not exist, so that no claim would be created for %s", n.Pool, n.PodName)
	}
	if claim := v.UnknownClaim(n); replacement == nodestorage.Requested && claim != "" {
		return transitions.Problemf("ClaimUnknown", "%s uses PersistentVolumeClaim %s, which does not exist or lacks the labels of the cluster", n.PodName, claim)
	}
	return startError(k, v)
}
