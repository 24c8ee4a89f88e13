package nodestorage

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/transitions"
)

// Storage is the known state of the persistent volumes of a node.
type Storage string

const (
	// Unknown: the pod is missing, or its init container has not ended yet. This is no evidence that a volume was lost or is back.
	Unknown Storage = ""
	// Kept: the init container has accepted the volumes.
	Kept Storage = "kept"
	// Lost: the init container failed because a volume that held data is empty, and the record of the node forbids formatting.
	Lost Storage = "lost"
	// Allowed: the record of a node that held data permits formatting, until the node has registered.
	Allowed Storage = "allowed"
)

// Node is one node with persistent volumes that were in use.
type Node struct {
	ID int32
	// Pod is the name of the node's pod.
	Pod string
	// Controller and Broker are the roles of the node.
	Controller, Broker bool
	Storage            Storage
	// Directories that are empty, as its init container reported them.
	Directories []string
	// DownSince is when its pod was last not ready; zero for a ready pod. Facts that Kafka reported before that are no evidence
	// about a node that has lost its storage since.
	DownSince time.Time
	// Trouble is why its pod does not start; nil if it is not known.
	Trouble *transitions.Problem
}

// Facts of the storage of a cluster's nodes.
type Facts struct {
	Now time.Time
	// Namespace and Cluster name the Kafka resource.
	Namespace, Cluster string
	// Nodes sorted by id.
	Nodes []Node
	// FetchTimeout is how far a voter may be behind the leader.
	FetchTimeout time.Duration
	Quorum       transitions.Fact[kafka.Quorum]     `need:"quorum"`
	Partitions   transitions.Fact[kafka.Partitions] `need:"partitions"`
	// Approved is the value of the approval: <attempt id>/<pod>.
	Approved string
	// Attempt that is on hold or formatting. It is nil at rest, because an attempt at rest has ended.
	Attempt *lifecyclev1.Attempt
}

// Node returns the node with the id, or nil.
func (f *Facts) Node(id int32) *Node {
	i, found := slices.BinarySearchFunc(f.Nodes, id, func(n Node, id int32) int { return int(n.ID) - int(id) })
	if !found {
		return nil
	}
	return &f.Nodes[i]
}

// first returns the first node, by id, with the given storage, or nil.
func (f *Facts) first(s Storage) *Node {
	for i := range f.Nodes {
		if f.Nodes[i].Storage == s {
			return &f.Nodes[i]
		}
	}
	return nil
}
