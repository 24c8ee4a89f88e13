package observation

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// PoolsGrace is how long after its creation a Kafka may lack pools: tools that apply a directory or a release create a Kafka before
// its KafkaNodePools.
const PoolsGrace = 30 * time.Second

// PoolsPause is how long no pool was created when the nodes of a new cluster are started: those tools create its pools one after another,
// and the controllers of a pool that came later could not join the quorum any more.
const PoolsPause = 5 * time.Second

// Roles of a node.
type Roles struct{ Controller, Broker bool }

// RolesOf returns the roles in a list. Unknown roles are ignored.
func RolesOf(list []kafkav1beta2.NodeRole) Roles {
	var r Roles
	for _, role := range list {
		r.Controller = r.Controller || role == kafkav1beta2.RoleController
		r.Broker = r.Broker || role == kafkav1beta2.RoleBroker
	}
	return r
}

// List returns the roles in the order in which Kafka's own tools write them.
func (r Roles) List() []kafkav1beta2.NodeRole {
	var out []kafkav1beta2.NodeRole
	if r.Controller {
		out = append(out, kafkav1beta2.RoleController)
	}
	if r.Broker {
		out = append(out, kafkav1beta2.RoleBroker)
	}
	return out
}

// Listed reports whether List returns the list.
func (r Roles) Listed(list []kafkav1beta2.NodeRole) bool {
	rest, controller := list, len(list) > 0 && list[0] == kafkav1beta2.RoleController
	if controller {
		rest = list[1:]
	}
	broker := len(rest) == 1 && rest[0] == kafkav1beta2.RoleBroker
	return r == Roles{Controller: controller, Broker: broker} && (broker || len(rest) == 0)
}

// Storage is whether a node's data outlives its pod.
type Storage string

const (
	// StoragePersistent outlives the pod. It is also assumed if the type is unknown.
	StoragePersistent Storage = "persistent"
	// StorageEphemeral is lost with the pod.
	StorageEphemeral Storage = "ephemeral"
)

// Node is one node of a cluster: desired, recorded or running.
type Node struct {
	ID   int32
	Pool string
	// PodName is the name of its pod, whether or not the pod exists.
	PodName string
	// Wanted is true if the node is desired and its id is committed.
	Wanted bool
	// RolesWanted are the roles of its pool; none if the node is not desired.
	RolesWanted Roles
	// Roles with which it is to run now. Only a lifecycle that makes it safe may remove a role of a started node or add the
	// controller role to it.
	Roles Roles
	// RolesRunning are the roles of the process in its pod, by the pod's specification and not by its labels; none without a pod.
	RolesRunning Roles
	// Recorded is true if Record exists.
	Recorded bool
	Record   record.Record
	Pod      Pod
	Entry    Entry
	// MetadataStorage is whether the metadata log outlives the pod.
	MetadataStorage Storage
	// HasClaims is true if at least one of its volumes has a claim.
	HasClaims bool

	// RecordBroken is true if a part of the record is unreadable. The record is rewritten from the readable parts.
	RecordBroken bool
}

// exists reports whether there is evidence that the node was created: its record, its pod, its entry or a disk. An id in the
// status of a pool is no evidence, because users can edit it.
func (n *Node) exists() bool { return n.Recorded || n.Pod.Exists || n.Entry.Exists || n.HasClaims }

// LongestPodName is the maximum length of the name of a Kafka pod: the name is the host name of the pod and the value of a label.
const LongestPodName = 63

// NameTooLong reports whether Kubernetes rejects the name of the node's pod.
func (n *Node) NameTooLong() bool { return len(n.PodName) > LongestPodName }

// Pod of a node.
type Pod struct {
	Exists bool
	UID    types.UID
	// Terminating is true if the pod has a deletion timestamp.
	Terminating bool
	// Ready is true if the pod is ready and not terminating. ReadySince is its last transition to ready.
	Ready      bool
	ReadySince time.Time
	// UnreadySince is when it last stopped being ready, or was created; zero while it is ready.
	UnreadySince time.Time
	// RefusedSince is since when the API server refuses pods of its StrimziPodSet, if it does not exist and is one of them; else zero.
	RefusedSince time.Time
	// NeverStarted is true if its Kafka container has not been started yet.
	NeverStarted bool
	// Running is true if the Kafka container runs. StartedAt is when it started.
	Running   bool
	StartedAt time.Time
	// Version that it runs, by what the operator recorded and the image confirms; empty if unknown. It is never taken from an
	// annotation alone, and is always a valid version.
	Version string
	// Contradiction describes how the pod contradicts its recorded version; nil if it does not.
	Contradiction *transitions.Problem
	// Annotated is the unverified value of its version annotation; empty if it has none.
	Annotated string
	// Revision is its annotation, or that of its entry if the annotation was edited; empty if it has none.
	Revision string
	// RestartDue is true if a user requested its restart.
	RestartDue bool
	// ReplacementDue is true if a user requested its replacement together with its claims.
	ReplacementDue bool
	// Image of the Kafka container.
	Image string
	// Foreign is true if another operator created it.
	Foreign bool
	// Trouble is why it cannot be created, cannot start, keeps failing or does not end, with the last log lines of the process. Nil for
	// a pod that is merely not ready yet, not created yet, or terminating.
	Trouble *transitions.Problem
	// SnapshotInterval of its process; zero means no snapshots by time.
	SnapshotInterval time.Duration
	// Volumes is the last report of its init container about the persistent volumes.
	Volumes Volumes
}

// Died reports whether a process of the pod has died and does not run, or dies again and again: what it was started with may be why.
func (p *Pod) Died() bool {
	return p.Trouble != nil && (p.Trouble.Reason == roll.ContainerDied || p.Trouble.Reason == roll.OutOfMemory)
}

// Volumes is the result of the init container of a pod.
type Volumes struct {
	// Accepted is true if it has succeeded, or Kafka was started after it.
	Accepted bool
	// Lost are the directories that held data and are empty, separated by spaces. They are the reason why it failed.
	Lost string
}

// Entry of a node in its pool's StrimziPodSet: the template of its pod.
type Entry struct {
	Exists            bool
	Version, Revision string
	// Repeated is true if the set has more entries of this pod, which mean nothing.
	Repeated bool
	// Edited is true if someone has edited the entry since the operator wrote it. It describes no pod that ran, and none is created from it.
	Edited bool

	// ConfigKeys are the keys of the node's ConfigMap that it mounts.
	ConfigKeys []string
	// Volumes are the ids of its volumes with a claim.
	Volumes []int32
	// MetadataLog is where its pod keeps the metadata log.
	MetadataLog render.MetadataLog
	// roles in its labels.
	roles Roles
	// image of the Kafka container.
	image            string
	snapshotInterval time.Duration
	// written is the hash of the entry as the operator wrote it; empty in a set of an older operator.
	written string
}

// names reports whether the operator wrote the entry with the image.
func (e *Entry) names(image string) bool { return e.Exists && !e.Edited && e.image == image }

// Revision of the node's pod, else that of its entry, from which the pod would be recreated. Empty if neither has one.
func (n *Node) Revision() string {
	if n.Pod.Exists {
		return n.Pod.Revision
	}
	return n.Entry.Revision
}

// Version of the node's pod, else that of its entry or its record, on which the pod would be recreated. Empty if none has one.
func (n *Node) Version() string {
	if n.Pod.Exists {
		return n.Pod.Version
	}
	return cmp.Or(n.Entry.Version, n.Record.Version)
}
