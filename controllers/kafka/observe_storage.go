package kafka

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
)

// observeNodeStorage takes the facts of the storage of the nodes from the snapshot.
func observeNodeStorage(k *kafkav1beta2.Kafka, v *Snapshot, ask machines.ObserveOptions) nodestorage.Facts {
	f := nodestorage.Facts{
		Now: v.Now, Namespace: k.Namespace, Cluster: k.Name,
		FetchTimeout: setting(k, "controller.quorum.fetch.timeout.ms", kafkaclient.DefaultQuorumFetchTimeout),
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
		roles := rolesOf(n.Record.Roles)
		f.Nodes = append(f.Nodes, nodestorage.Node{
			ID: n.ID, Pod: n.PodName, Storage: storageOf(n), Directories: strings.Fields(n.Pod.Volumes.Lost), DownSince: n.Pod.UnreadySince, Trouble: n.Pod.Trouble,
			// The roles of its record and of its pod count too: it may vote or hold replicas in them.
			Controller: roles.Controller || n.Roles.Controller || n.RolesRunning.Controller, Broker: roles.Broker || n.Roles.Broker || n.RolesRunning.Broker,
		})
	}
	return f
}

func storageOf(n *Node) nodestorage.Storage {
	switch {
	case !n.Recorded:
		return nodestorage.Unknown
	case reformatted(&n.Record):
		return nodestorage.Allowed
	case n.Pod.Volumes.Lost != "" && n.Record.Format == record.FormatDone:
		return nodestorage.Lost
	case n.Pod.Volumes.Accepted:
		return nodestorage.Kept
	}
	return nodestorage.Unknown
}

// volumeReport returns the last result of the init container that formats: its newest end counts, even while it runs again or
// waits to run. A running Kafka container was started after it, so the status of the init container does not matter then.
func volumeReport(pod *corev1.Pod, kafka *corev1.ContainerStatus) Volumes {
	if kafka != nil && kafka.State.Running != nil {
		return Volumes{Accepted: true}
	}
	format := container(pod.Status.InitContainerStatuses, render.FormatContainer)
	if format == nil {
		return Volumes{}
	}
	end := endOf(format)
	switch {
	case end == nil:
		return Volumes{}
	case end.ExitCode == 0:
		return Volumes{Accepted: true}
	case end.ExitCode != render.ExitStorage:
		return Volumes{}
	}
	return Volumes{Lost: lostDirectories(end.Message)}
}

// endOf returns the newest end of a container, or nil.
func endOf(c *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if c.State.Terminated != nil {
		return c.State.Terminated
	}
	return c.LastTerminationState.Terminated
}

// lostDirectories returns the directories that the init container names after the marker in its termination message. A message
// without the marker names none: the container ended for another reason.
func lostDirectories(message string) string {
	for line := range strings.SplitSeq(message, "\n") {
		if rest, found := strings.CutPrefix(strings.TrimSpace(line), render.StorageLostMarker); found {
			named, _, _ := strings.Cut(rest, ",")
			return strings.Join(strings.Fields(named), " ")
		}
	}
	return ""
}
