package kafka

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// Roles of a node.
type Roles struct{ Controller, Broker bool }

func rolesOf(list []kafkav1beta2.NodeRole) Roles {
	var r Roles
	for _, role := range list {
		r.Controller = r.Controller || role == kafkav1beta2.RoleController
		r.Broker = r.Broker || role == kafkav1beta2.RoleBroker
	}
	return r
}

// list is the roles in the order in which Kafka's own tools write them.
func (r Roles) list() []kafkav1beta2.NodeRole {
	var out []kafkav1beta2.NodeRole
	if r.Controller {
		out = append(out, kafkav1beta2.RoleController)
	}
	if r.Broker {
		out = append(out, kafkav1beta2.RoleBroker)
	}
	return out
}

// Storage is what becomes of a node's data with its pod.
type Storage string

const (
	// StoragePersistent outlives the pod. It is also what is taken when nothing is known.
	StoragePersistent Storage = "persistent"
	// StorageEphemeral is lost with the pod.
	StorageEphemeral Storage = "ephemeral"
)

// Node is one node of a cluster: wanted, recorded or running.
type Node struct {
	ID   int32
	Pool string
	// PodName is the name of its pod, whether or not it exists.
	PodName string
	// Wanted says that the node is to exist and its id is committed.
	Wanted bool
	// RolesWanted are those of its pool; none if it is not wanted.
	RolesWanted Roles
	// Roles that it is to run with now: a role is taken from a node that was started, or a controller added to it, only by the
	// lifecycle that makes that safe.
	Roles Roles
	// RolesRunning are those of the process in its pod, by what the pod was made with and not by its labels; none without a pod.
	RolesRunning Roles
	// Recorded says whether Record exists.
	Recorded bool
	Record   record.Record
	Pod      Pod
	Entry    Entry
	// MetadataStorage is what becomes of the metadata log with the pod.
	MetadataStorage Storage
	// HasClaims says that at least one of its volumes has a claim.
	HasClaims bool

	// recordBroken says that not all of the record can be read: it is written anew from what can.
	recordBroken bool
}

// exists says whether anything shows that the node was created: its record, its pod, its entry or a disk. An id in the status
// of a pool shows nothing, since anybody may edit it.
func (n *Node) exists() bool { return n.Recorded || n.Pod.Exists || n.Entry.Exists || n.HasClaims }

// Pod of a node.
type Pod struct {
	Exists bool
	UID    types.UID
	// Terminating says that it is on its way out.
	Terminating bool
	// Ready says that it is ready and not on its way out; ReadySince is when it last became so.
	Ready      bool
	ReadySince time.Time
	// UnreadySince is when it last stopped being ready, or was made; zero while it is ready.
	UnreadySince time.Time
	// NeverStarted says that the container of Kafka has not been started in it yet.
	NeverStarted bool
	// Running says that the container of Kafka runs; StartedAt is since when.
	Running   bool
	StartedAt time.Time
	// Version that it runs, by what the operator wrote and the image confirms; empty where it cannot be told. It is never an
	// annotation alone, and always a parsed version.
	Version string
	// Contradiction says how the pod contradicts the version that was written for it; empty if it does not.
	Contradiction string
	// Annotated is its annotation of the version, as it is; empty where it has none.
	Annotated string
	// Revision is its annotation, or its entry's where it was edited; empty where it has none.
	Revision string
	// Image of the container of Kafka.
	Image string
	// Foreign says that another operator has made it.
	Foreign bool
	// Trouble is why it cannot start or stay up, with the process's last words. Empty for a pod that merely is not ready yet.
	Trouble string
	// SnapshotInterval that its process was made with; zero takes no snapshots by time.
	SnapshotInterval time.Duration
	// Volumes is what its init container said of the persistent volumes at last.
	Volumes Volumes
}

// Volumes is the result of the init container of a pod.
type Volumes struct {
	// Accepted: it has ended with success, or Kafka was started after it.
	Accepted bool
	// Lost are the directories that held data and are empty, separated by spaces; it ended because of them.
	Lost string
}

// Entry of a node in its pool's StrimziPodSet: what its pod is made from.
type Entry struct {
	Exists            bool
	Version, Revision string

	// configKeys are the keys of the node's ConfigMap that it mounts.
	configKeys []string
	// roles that its labels name.
	roles Roles
	// image of the container of Kafka.
	image            string
	snapshotInterval time.Duration
}

// Revision that the node runs as, or would come back as: its pod's, else its entry's. Empty where neither says.
func (n *Node) Revision() string {
	if n.Pod.Exists {
		return n.Pod.Revision
	}
	return n.Entry.Revision
}

// Version that the node runs as, or would come back as: its pod's, its entry's, else its record's. Empty where none says.
func (n *Node) Version() string {
	if n.Pod.Exists {
		return n.Pod.Version
	}
	return cmp.Or(n.Entry.Version, n.Record.Version)
}
