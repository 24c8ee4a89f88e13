package kafka

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
)

// Endpoint names a Kafka cluster, and where it is reached.
type Endpoint struct {
	// Name and UID of the Kafka resource.
	Name types.NamespacedName
	UID  types.UID
	// Bootstrap addresses, host:port, as they are reached inside the Kubernetes cluster.
	Bootstrap []string
	// Nodes are the addresses of the single nodes that have a pod, by id.
	Nodes map[int32]kafkaclient.NodeAddress
	// NewestNodes returns the Nodes of the newest reading. Polled sets it for Connect, so that a cluster that grows keeps its
	// connections.
	NewestNodes func() map[int32]kafkaclient.NodeAddress
}

// Query is one question to a cluster, and how old its answer may be.
type Query struct {
	kafkaclient.Question
	MaxAge time.Duration
	// Renew is how old the last answer may be before the question is put anew; it counts until it is answered. Zero is a part of
	// MaxAge.
	Renew time.Duration
	// Again is when the cluster is to be looked at again, for who waits for the answer to change and has no state that polls.
	// Zero is never.
	Again time.Duration
}

// Reading is what came of a Query: an answer and when it was given, an error, or neither while the first answer is awaited.
type Reading struct {
	Answer kafkaclient.Answer
	At     time.Time
	Err    error
}

// Pending says that the question was asked and not answered yet.
func (r *Reading) Pending() bool { return r.Err == nil && r.At.IsZero() }

// Observer is the Kafka side of a pass: what it last heard, and what it asks to be done. It keeps no memory that matters:
// after a restart readings are pending and answers are none.
type Observer interface {
	// Read answers every query, in order. It returns what was last heard and asks anew what is older than a query permits; a
	// reading that old is an error. With live it asks now, and returns no later than the context ends.
	Read(ctx context.Context, cluster Endpoint, queries []Query, live bool, now time.Time) []Reading
	// Write hands over one command, once: another command under the same ticket is not sent.
	Write(ctx context.Context, cluster Endpoint, ticket machines.Ticket, command kafkaclient.Command)
	// Answer says what came of the command under the ticket.
	Answer(cluster Endpoint, ticket machines.Ticket) Answer
	// Doubt says whether a command of the lifecycle may still take effect of which no ticket that is asked for tells.
	Doubt(cluster Endpoint, lifecycle string) Doubt
	// Drop ends every call and connection to a cluster that is gone, and forgets it.
	Drop(cluster types.UID)
}

// AnswerOf words the outcome of a command.
func AnswerOf(ticket machines.Ticket, err error) Answer {
	if err == nil {
		return Answer{Ticket: ticket, State: AnswerDone}
	}
	a := Answer{Ticket: ticket, State: AnswerFailed, Text: err.Error()}
	if refused, ok := kafkaclient.AsRefused(err); ok {
		a.State, a.Code, a.Name, a.Text = AnswerRefused, refused.Code, refused.Name, refused.Message
	} else if kafkaclient.IsOutcomeUnknown(err) {
		a.State = AnswerUnknown
	}
	a.Text = kafkaclient.Redact(a.Text)
	return a
}
