package kafka

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
)

// Endpoint identifies a Kafka cluster and its addresses.
type Endpoint struct {
	// Name and UID of the Kafka resource.
	Name types.NamespacedName
	UID  types.UID
	// Bootstrap addresses, host:port, as reachable inside the Kubernetes cluster.
	Bootstrap []string
	// Nodes are the addresses of the nodes that have a pod, by id.
	Nodes map[int32]kafkaclient.NodeAddress
	// NewestNodes returns the Nodes of the newest read. Polled sets it for Connect, so that a growing cluster keeps its
	// connections.
	NewestNodes func() map[int32]kafkaclient.NodeAddress
}

// Query is one question to a cluster, with the maximum age of its answer.
type Query struct {
	kafkaclient.Question
	MaxAge time.Duration
	// Renew is the maximum age of the last answer before the question is sent again. It applies until the question is answered.
	// Zero means a fraction of MaxAge.
	Renew time.Duration
	// Again is the delay before the next reconcile of the cluster, for callers that wait for a changed answer in a state without
	// polling. Zero means none.
	Again time.Duration
}

// Reading is the result of a Query: an answer and its time, an error, or neither while the first answer is pending.
type Reading struct {
	Answer kafkaclient.Answer
	At     time.Time
	Err    error
}

// Pending reports whether the question was sent and has no answer yet.
func (r *Reading) Pending() bool { return r.Err == nil && r.At.IsZero() }

// Observer reads from Kafka and sends commands to it. It holds no state that must survive: after a restart, readings are pending
// and there are no answers.
type Observer interface {
	// Read returns one reading for every query, in order. It returns the last answers and sends the questions whose answers are
	// older than the query permits; an answer older than MaxAge is an error. If live is true it sends all questions now and
	// returns when the context ends at the latest.
	Read(ctx context.Context, cluster Endpoint, queries []Query, live bool, now time.Time) []Reading
	// Write sends a command at most once: another command with the same request ID is ignored.
	Write(ctx context.Context, cluster Endpoint, requestID machines.RequestID, command kafkaclient.Command)
	// Answer returns the outcome of the command with the request ID.
	Answer(cluster Endpoint, requestID machines.RequestID) Answer
	// InFlight returns whether a command of the lifecycle may still take effect although no current request ID refers to it.
	InFlight(cluster Endpoint, lifecycle string) InFlight
	// Drop ends every call and connection to a deleted cluster, and removes its state.
	Drop(cluster types.UID)
}

// AnswerOf converts the result of a command.
func AnswerOf(requestID machines.RequestID, err error) Answer {
	if err == nil {
		return Answer{RequestID: requestID, State: AnswerDone}
	}
	a := Answer{RequestID: requestID, State: AnswerFailed, Text: err.Error()}
	if refused, ok := kafkaclient.AsRefused(err); ok {
		a.State, a.Code, a.Name, a.Text = AnswerRefused, refused.Code, refused.Name, refused.Message
	} else if kafkaclient.IsOutcomeUnknown(err) {
		a.State = AnswerUnknown
	}
	a.Text = kafkaclient.Redact(a.Text)
	return a
}
