package kraftscaledown

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/transitions"
)

// NeedLogDirs are the log directories of the brokers that leave, as each reports its own.
const NeedLogDirs transitions.Need = "log-dirs"

// Node is a node that is not desired as a broker, or that was stopped or drained and is desired again.
type Node struct {
	ID int32
	// Pod is the name of the node's pod.
	Pod string
	// Wanted is true if the spec requests the node as a broker.
	Wanted bool
	// Runs is true if a process of the node may run in the broker role: its pod exists with that role, or is created again
	// because it was lost. A node that is not Stopped and does not run cannot come back: its pool was deleted.
	Runs bool
	// Stopped is true if the node's record says that it may not run as a broker any more.
	Stopped bool
	// Ending is true if a stopped node that runs will not run any more without a further request: its pod is evicted and not
	// recreated, or is restarted without the broker role.
	Ending bool
	// Kept is why the pod of a stopped node is not removed now; nil if nothing is known to keep it.
	Kept *transitions.Problem
	// Down is true if the kubelet reports that the pod of the node is not ready, for longer than a restart takes, or the API server refuses
	// to create the pod.
	Down bool
	// Unused is true if the node's record permits its storage to be formatted for the first time: Kafka was never seen to list a broker
	// with this storage.
	Unused bool
	// Draining is the number of partitions that the node had when its drain began, by its record. 0 if it is not drained.
	Draining int
	// Held is the number of partitions that have a replica on the node, for the progress of its drain; nil if it is not known now.
	Held *int
}

// Facts of the removal of brokers.
type Facts struct {
	Now time.Time
	// SessionTimeout is the time after which Kafka fences a silent broker.
	SessionTimeout time.Duration
	// Wanted are the ids of the desired brokers, ascending.
	Wanted []int32
	// Down are the desired brokers whose pods have not been ready for longer than a restart takes, or cannot be created, ascending.
	Down []int32
	// Nodes that leave, in the order in which they are removed, and nodes that were stopped or drained and are desired again. Every node
	// with a record or with a pod in the broker role is here or in Wanted.
	Nodes []Node
	// Refusal is why other nodes that are not desired are not removed: they are controllers of a static quorum. Nil if there are
	// none.
	Refusal *transitions.Problem
	// SkipCheck is true if a broker may be removed although it holds replicas: strimzi.io/skip-broker-scaledown-check. It has no effect
	// while Drain is true.
	SkipCheck bool
	// Drain is true if the replicas of brokers that leave are to be moved away: detent.dev/drain.
	Drain bool

	Brokers    transitions.Fact[kafka.Brokers]    `need:"brokers"`
	Partitions transitions.Fact[kafka.Partitions] `need:"partitions"`
	// LogDirs by broker. A broker that did not answer is missing.
	LogDirs  transitions.Fact[map[int32]kafka.LogDirs] `need:"log-dirs"`
	Features transitions.Fact[kafka.Features]          `need:"features"`
	Moves    transitions.Fact[Moves]                   `need:"moves"`
	// Cordons by broker. A broker that did not answer is missing.
	Cordons transitions.Fact[map[int32]bool] `need:"cordons"`

	// Answer to the last request to unregister, in this visit of the state.
	Answer kafkaversion.Answer
	// NotRegistered is true if Answer is the refusal of a broker that is not registered, which is as good as done.
	NotRegistered bool
	// InFlight is the uncertain outcome of earlier requests to unregister.
	InFlight kafkaversion.InFlight
	// EnteredAt is when the state was entered.
	EnteredAt time.Time
	// Pause is the delay before a refused request is repeated.
	Pause time.Duration
}

// node returns the node with the id, or nil.
func (f *Facts) node(id int32) *Node {
	for i := range f.Nodes {
		if f.Nodes[i].ID == id {
			return &f.Nodes[i]
		}
	}
	return nil
}

// past returns the ids of registrations that are left from nodes of which nothing else is left. A registration of a broker that is
// alive is not among them: its process is not one of this cluster's pods.
func (f *Facts) past(brokers kafka.Brokers) []int32 {
	var out []int32
	for _, b := range brokers.Brokers {
		if b.Fencing == kafka.Fenced && !slices.Contains(f.Wanted, b.ID) && f.node(b.ID) == nil {
			out = append(out, b.ID)
		}
	}
	return out
}

// leaves reports whether the broker is to be removed: a node that is not desired, or a registration without a node.
func (f *Facts) leaves(id int32) bool {
	n := f.node(id)
	return n != nil && !n.Wanted || n == nil && !slices.Contains(f.Wanted, id)
}

// target returns the desired brokers as the target of an attempt.
func (f *Facts) target() string {
	text := append(make([]byte, 0, 64), "brokers "...)
	for i, id := range f.Wanted {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = strconv.AppendInt(text, int64(id), 10)
	}
	return string(text)
}

// name of a broker for users.
func (f *Facts) name(id int32) string {
	if n := f.node(id); n != nil {
		return n.Pod
	}
	return fmt.Sprintf("broker %d", id)
}

// skips reports whether brokers are removed without a check for replicas. A requested drain has precedence: replicas that are not checked
// are lost, and those that are moved first can still be given up later.
func (f *Facts) skips() bool { return f.SkipCheck && !f.Drain }

// unsettled reports whether a request to unregister may still take effect.
func (f *Facts) unsettled() bool { return f.InFlight.Until.After(f.Now) }
