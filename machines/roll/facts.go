// Package roll restarts nodes one at a time. It is a fragment that machines include: the version change, node-roll and the
// rotation of certificates share it. They differ only in the reason why a node needs a restart.
//
// A restart is safe if every other node serves, the metadata quorum keeps a majority without the node, and no partition
// falls below its minimum of in-sync replicas. A restarted node is ready and back in sync before the next restart.
package roll

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/transitions"
)

// Needs of a roll.
const (
	// NeedQuorum is the state of the metadata quorum.
	NeedQuorum transitions.Need = "quorum"
	// NeedPartitions are the partitions that are not healthy.
	NeedPartitions transitions.Need = "partitions"
	// NeedBrokers are the registrations of brokers.
	NeedBrokers transitions.Need = "brokers"
	// NeedMembers are the answers of nodes that are asked directly.
	NeedMembers transitions.Need = "members"
)

// Reasons why a pod does not become ready.
const (
	PodRefused          transitions.Reason = "PodRefused"
	PodNotEnding        transitions.Reason = "PodNotEnding"
	PodFailed           transitions.Reason = "PodFailed"
	Unschedulable       transitions.Reason = "Unschedulable"
	ImagePullFailed     transitions.Reason = "ImagePullFailed"
	ContainerNotStarted transitions.Reason = "ContainerNotStarted"
	ContainerDied       transitions.Reason = "ContainerDied"
	OutOfMemory         transitions.Reason = "OutOfMemory"
)

// Node is the observed state of one Kafka node.
type Node struct {
	ID int32
	// Pod is the name of the node's pod.
	Pod string
	// Controller and Broker are the roles of the running process.
	Controller, Broker bool
	// Ephemeral is true if the node's metadata log is lost with its pod.
	Ephemeral bool
	// Running is true if the pod exists and is not terminating.
	Running bool
	// Ready is the pod's condition as the kubelet reports it. ReadySince is its last transition to true. It is no evidence that
	// the node takes part in the Kafka cluster.
	Ready      bool
	ReadySince time.Time
	// UnreadySince is when the pod last stopped being ready, or was created; zero for a ready pod.
	UnreadySince time.Time
	// RefusedSince is since when the API server refuses pods of the node's set, if its pod is one of them; else zero.
	RefusedSince time.Time
	// NeverStarted is true if no process of Kafka has run in the pod.
	NeverStarted bool
	// StartedAt is when the pod's process started; zero if it has not.
	StartedAt time.Time
	// Trouble is why the pod cannot be created, cannot start, keeps failing or does not end (quota, unschedulable, image pull, crash
	// loop, lost host), with the process's last log lines. Nil if none of them is known.
	Trouble *transitions.Problem
	// Held is why the node must not be restarted although its pod may be down: something is lost with the pod. Nil if nothing is.
	Held *transitions.Problem
	// Outdated is true if the node needs a restart.
	Outdated bool
	// Stale is true if the pod differs from its desired state for another reason than the one that this roll handles. Its next
	// restart applies that change. The change alone is a reason to restart the node only while it is the current node and down,
	// since it may repair the node.
	Stale bool
}

// Name of the node for users: the name of its pod.
func (n *Node) Name() string { return n.Pod }

// due reports whether a restart of the current node changes anything.
func (n *Node) due() bool { return n.Outdated || n.Stale && !n.Ready }

// starting reports whether the node's process started so recently that it may still become ready.
func (n *Node) starting(now time.Time) bool {
	return n.Running && !n.Ready && n.Trouble == nil && !n.StartedAt.IsZero() && now.Before(n.StartedAt.Add(readyDeadline))
}

// Stranded reports whether the node has no process and gets none without help: the API server refuses its pod, or the pod terminates
// for ever, as on a lost host. A node that is merely between two pods is not stranded.
func (n *Node) Stranded() bool { return !n.Running && n.Trouble != nil }

// hindrance returns why a restart of the node cannot be executed: something would be lost with its pod, or its pod does not end. Nil if
// nothing prevents it.
func (n *Node) hindrance() *transitions.Problem {
	if n.Held == nil && n.Stranded() && n.Trouble.Reason == PodNotEnding {
		return n.Trouble
	}
	return n.Held
}

// coming reports whether the node may become ready soon: its pod is missing or terminating and will be recreated, or it has no
// known problem and its start has not timed out.
func (n *Node) coming(now time.Time) bool {
	return !n.Ready && n.Trouble == nil && (!n.Running || n.StartedAt.IsZero() || now.Before(n.StartedAt.Add(readyDeadline)))
}

// Failed reports whether the node is not expected to become ready without a change: it has a known problem, or its start has
// timed out.
func (n *Node) Failed(now time.Time) bool { return !n.Ready && !n.coming(now) }

// Facts of a roll.
type Facts struct {
	Now time.Time
	// Nodes that are desired or still run, sorted by id.
	Nodes []Node
	// SessionTimeout is the time after which Kafka fences a silent broker. Older evidence may refer to the previous process.
	SessionTimeout time.Duration
	// FetchTimeout is how far a voter may be behind the leader.
	FetchTimeout time.Duration

	Quorum     transitions.Fact[kafka.Quorum]     `need:"quorum"`
	Partitions transitions.Fact[kafka.Partitions] `need:"partitions"`
	Brokers    transitions.Fact[kafka.Brokers]    `need:"brokers"`
	Members    transitions.Fact[Members]          `need:"members"`
}

// Members are the answers of the nodes that were queried directly, by id. Nodes that were not queried are missing.
type Members map[int32]Membership

// Membership is how a node takes part, by its own answer. An unreachable node does not take part.
type Membership struct {
	Controller, Broker bool
	// Answered is true if the node answered at all, even if it answered that it does not take part.
	Answered bool
	// KubeletLost is true if no live kubelet reports the node's readiness, so that the pod's condition is no evidence.
	KubeletLost bool
}

// Node returns the node with the id, or nil.
func (f *Facts) Node(id int32) *Node {
	i, found := slices.BinarySearchFunc(f.Nodes, id, func(n Node, id int32) int { return int(n.ID) - int(id) })
	if !found {
		return nil
	}
	return &f.Nodes[i]
}

// Done returns the number of nodes that need no restart.
func (f *Facts) Done() int {
	done := 0
	for i := range f.Nodes {
		if !f.Nodes[i].Outdated {
			done++
		}
	}
	return done
}

// None is the value of Data.Node without a current node.
const None int32 = -1

// Data is the persisted data of a roll: the current node.
type Data struct {
	// Node is the id of the current node, or None.
	Node int32
}

// NoNode returns the data without a current node.
func NoNode() Data { return Data{Node: None} }

const dataKey = "node"

// Encode encodes the data for the status.
func Encode(m Data) map[string]string {
	if m.Node == None {
		return nil
	}
	return map[string]string{dataKey: strconv.Itoa(int(m.Node))}
}

var errForeignData = errors.New("not data of a roll")

// Decode decodes what Encode encoded. It returns an error for any other content.
func Decode(entries map[string]string) (Data, error) {
	if len(entries) == 0 {
		return NoNode(), nil
	}
	id, err := strconv.ParseInt(entries[dataKey], 10, 32)
	if err != nil || id < 0 || len(entries) != 1 {
		return NoNode(), errForeignData
	}
	return Data{Node: int32(id)}, nil
}
