// Package roll is the restart of nodes one at a time, as a fragment that machines include: the version change, node-roll
// and the rotation of certificates share it. What differs is only why a node wants a restart.
//
// A restart is safe when every other node serves, the metadata quorum keeps a majority without the node, and no partition
// falls under its minimum of in-sync replicas. A restarted node is ready and back in sync before the next one goes.
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

// Node is one Kafka node as a roll sees it.
type Node struct {
	ID int32
	// Pod is the name of its pod.
	Pod string
	// Controller and Broker are the roles of the running process.
	Controller, Broker bool
	// Ephemeral says that its metadata log goes with its pod.
	Ephemeral bool
	// Running says that the pod exists and is not on its way out.
	Running bool
	// Ready is what the kubelet reports; ReadySince is when the pod last became so. It says nothing about whether Kafka counts
	// on the node.
	Ready      bool
	ReadySince time.Time
	// UnreadySince is when the pod last stopped being ready, or was made; zero for a ready pod.
	UnreadySince time.Time
	// NeverStarted says that no process of Kafka has run in the pod.
	NeverStarted bool
	// StartedAt is when the pod's process started, zero if it has not.
	StartedAt time.Time
	// Trouble is why the pod cannot start or stay up (unschedulable, image pull, crash loop), with the process's last words.
	Trouble string
	// Outdated says that the node wants a restart.
	Outdated bool
	// Stale says that the pod differs from what is wanted of it in another way than the roll is about. It comes to that when it
	// restarts anyway; alone it is a reason only while the node is in hand and down, since it may be what mends it.
	Stale bool
}

// Name of the node for people: its pod.
func (n *Node) Name() string { return n.Pod }

// due says whether a restart of the node in hand does any good.
func (n *Node) due() bool { return n.Outdated || n.Stale && !n.Ready }

// starting says whether the node's process was started so recently that it may just need time.
func (n *Node) starting(now time.Time) bool {
	return n.Running && !n.Ready && n.Trouble == "" && !n.StartedAt.IsZero() && now.Before(n.StartedAt.Add(readyDeadline))
}

// coming says whether the node may be up in a moment: its pod is away or terminating and comes back, or nothing is known to be
// wrong with it, and it has not had its time.
func (n *Node) coming(now time.Time) bool {
	return !n.Ready && n.Trouble == "" && (!n.Running || n.StartedAt.IsZero() || now.Before(n.StartedAt.Add(readyDeadline)))
}

// Failed says whether the node cannot be expected to become ready as it is: something is known to be wrong with it, or it has had
// its time to start.
func (n *Node) Failed(now time.Time) bool { return !n.Ready && !n.coming(now) }

// Facts of a roll.
type Facts struct {
	Now time.Time
	// Nodes that are wanted or run, by id.
	Nodes []Node
	// SessionTimeout after which a silent broker is fenced: evidence that is not newer may speak of the process before.
	SessionTimeout time.Duration
	// FetchTimeout is how far behind the leader a voter may be.
	FetchTimeout time.Duration

	Quorum     transitions.Fact[kafka.Quorum]     `need:"quorum"`
	Partitions transitions.Fact[kafka.Partitions] `need:"partitions"`
	Brokers    transitions.Fact[kafka.Brokers]    `need:"brokers"`
	Members    transitions.Fact[Members]          `need:"members"`
}

// Members are the answers of the nodes that were asked directly, by id. Nodes that were not asked are left out.
type Members map[int32]Membership

// Membership is how a node takes part, as it answers itself. A node that cannot be reached does not take part.
type Membership struct {
	Controller, Broker bool
	// Answered says that the node answered at all, also where it answers that it takes no part.
	Answered bool
	// KubeletLost says that no kubelet that is alive reports the node as it is shown: its readiness is no report.
	KubeletLost bool
}

// Node of the id, or nil.
func (f *Facts) Node(id int32) *Node {
	i, found := slices.BinarySearchFunc(f.Nodes, id, func(n Node, id int32) int { return int(n.ID) - int(id) })
	if !found {
		return nil
	}
	return &f.Nodes[i]
}

// Done counts the nodes that want no restart.
func (f *Facts) Done() int {
	done := 0
	for i := range f.Nodes {
		if !f.Nodes[i].Outdated {
			done++
		}
	}
	return done
}

// None is the memo's node while none is in hand.
const None int32 = -1

// Memo is the node in hand.
type Memo struct {
	// Node in hand, or None.
	Node int32
}

// Nobody is the memo without a node in hand.
func Nobody() Memo { return Memo{Node: None} }

const memoKey = "node"

// Encode writes the memo into status.
func Encode(m Memo) map[string]string {
	if m.Node == None {
		return nil
	}
	return map[string]string{memoKey: strconv.Itoa(int(m.Node))}
}

var errForeignMemo = errors.New("not a memo of a roll")

// Decode reads what Encode wrote.
func Decode(entries map[string]string) (Memo, error) {
	if len(entries) == 0 {
		return Nobody(), nil
	}
	id, err := strconv.ParseInt(entries[memoKey], 10, 32)
	if err != nil || id < 0 || len(entries) != 1 {
		return Nobody(), errForeignMemo
	}
	return Memo{Node: int32(id)}, nil
}
