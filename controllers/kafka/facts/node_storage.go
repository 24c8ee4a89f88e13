package facts

import (
	"strings"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
)

// NodeStorage takes the facts of the storage of the nodes from the snapshot.
func NodeStorage(k *kafkav1beta2.Kafka, v *observation.Snapshot, ask machines.ObserveOptions) nodestorage.Facts {
	f := nodestorage.Facts{
		Now: v.Now, Namespace: k.Namespace, Cluster: k.Name,
		FetchTimeout: observation.Setting(k, "controller.quorum.fetch.timeout.ms", kafkaclient.DefaultQuorumFetchTimeout),
	}
	if ask.RequestID.State != nodestorage.Intact {
		f.Attempt = ask.Attempt
	}
	if approved, ok := strings.CutPrefix(k.Annotations[AnnotationApprove], approveFormat); ok {
		f.Approved = approved
	}
	if ask.Wants(roll.NeedQuorum) {
		f.Quorum = v.Quorum
	}
	if ask.Wants(roll.NeedPartitions) {
		f.Partitions = v.Partitions
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Recorded && len(n.Record.Volumes) == 0 || !n.Recorded && !n.HasClaims {
			continue // it has never run on persistent storage
		}
		roles := observation.RolesOf(n.Record.Roles)
		f.Nodes = append(f.Nodes, nodestorage.Node{
			ID: n.ID, Pod: n.PodName, Storage: storageOf(n), Directories: strings.Fields(n.Pod.Volumes.Lost), DownSince: n.Pod.UnreadySince, Trouble: n.Pod.Trouble,
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
