package nodestorage

import (
	"slices"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/roll"
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

// Replacement is how far the replacement of a node's storage has come, which a user requests.
type Replacement string

const (
	// None: nothing is requested, or the formatting is permitted already.
	None Replacement = ""
	// Requested: the pod has the annotation, and nothing was recorded. Removing the annotation cancels the request.
	Requested Replacement = "requested"
	// Begun: the record lists what is replaced, and a claim of the list is not deleted yet, or a pod runs.
	Begun Replacement = "begun"
	// Releasing: what is left of the list is being deleted.
	Releasing Replacement = "releasing"
	// Cleared: nothing of the list is left, and no pod runs. The storage of the node is gone.
	Cleared Replacement = "cleared"
)

// Node is one node with persistent volumes.
type Node struct {
	ID int32
	// Pod is the name of the node's pod.
	Pod string
	// Controller and Broker are the roles of the node.
	Controller, Broker bool
	Storage            Storage
	// Replacement of its storage.
	Replacement Replacement
	// Impediment is why its storage cannot be replaced, whatever Kafka reports; nil if it can.
	Impediment *transitions.Problem
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
	// Namespace and Cluster name the Kafka resource.
	Namespace, Cluster string
	// Nodes sorted by id.
	Nodes []Node
	// Roll are all nodes as a restart sees them, with the answers of Kafka.
	Roll roll.Facts
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

// first returns the first node, by id, that satisfies the condition, or nil.
func (f *Facts) first(which func(*Node) bool) *Node {
	for i := range f.Nodes {
		if which(&f.Nodes[i]) {
			return &f.Nodes[i]
		}
	}
	return nil
}

// lost returns the first node that has lost a volume and whose replacement was not requested, or nil. A request permits the
// formatting of what it replaces.
func (f *Facts) lost() *Node {
	return f.first(func(n *Node) bool { return n.Storage == Lost && n.Replacement == None })
}

// allowed returns the first node whose record permits formatting, or nil.
func (f *Facts) allowed() *Node {
	return f.first(func(n *Node) bool { return n.Storage == Allowed })
}
