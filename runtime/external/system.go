// Package external connects reconciles with systems outside the Kubernetes API, such as a database or an HTTP service. A
// reconcile never waits for them: it reads the last answer with its age and requests a newer one, and it submits commands that are
// executed at most once. An answer and the outcome of a command requeue the object.
//
// Snapshot is what a reconcile observes of a system, and Fragment contributes to a machine the states in which commands are sent.
//
// Polled is for a manager. Direct does the same within the call, for plans, tests and exploration.
package external

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/machines"
)

// Target is the external system of one object.
type Target interface {
	// Object is the object whose system it is. It is requeued by answers and outcomes.
	Object() (types.NamespacedName, types.UID)
	// BuiltFrom identifies what a client of the system is built from, such as its addresses. When it changes, the client is replaced
	// and its answers are lost. The outcomes of commands are kept; one that had none yet is Unknown.
	BuiltFrom() string
}

// Protocol is how a kind of external system is asked and commanded. T is the target, C a client of it, Q a question, A its answer
// and W a command.
type Protocol[T Target, C any, Q comparable, A, W any] struct {
	// System is what users call the systems, such as "the bank". The status shows it with the reason why one cannot be read. Optional; default:
	// the error of Ask alone.
	System string
	// Connect creates the client of a system and the function that closes it. It must not connect yet: it is called in a
	// reconcile. Required.
	Connect func(target T) (client C, done func(), err error)
	// Refresh gives a client the target as it is now, before each read. Optional; default: a client uses the target that it was
	// built from.
	Refresh func(client C, target T)
	// Ask sends a question. It must return when its context ends. Required.
	Ask func(ctx context.Context, client C, question Q) (A, error)
	// Together returns a client for several questions that are sent at the same time. It may hold answers to them, from requests that it
	// sent now. Optional; default: each question is a request.
	Together func(ctx context.Context, client C, questions []Q) C
	// Lane names the queue of a question. Questions of one lane are asked one at a time, and those of different lanes do not wait for each
	// other. Optional; default: all questions have the same lane.
	Lane func(question Q) string
	// Execute sends a command. It must return when its context ends. A command may be repeated by another process; see Fragment.
	// Required for systems that are commanded.
	Execute func(ctx context.Context, client C, command W) error
	// Outcome converts an error of Execute: Refused, Failed or Unknown, with the system's code, name and message. It removes
	// secrets from the text. Optional; default: OutcomeOf.
	Outcome func(err error) Answer
}

// answerOf converts the result of Execute.
func (p *Protocol[T, C, Q, A, W]) answerOf(id machines.RequestID, err error) Answer {
	a := Answer{State: Done}
	switch {
	case err != nil && p.Outcome != nil:
		a = p.Outcome(err)
	case err != nil:
		a = OutcomeOf(err)
	}
	a.RequestID = id
	return a
}

// Query is one question with the maximum age of its answer.
type Query[Q comparable] struct {
	Question Q
	MaxAge   time.Duration
	// Renew is the maximum age of the last answer before the question is sent again. It applies until the question is answered.
	// Zero means a fraction of MaxAge.
	Renew time.Duration
	// Again is the delay before the next reconcile of the object, for callers that wait for a changed answer in a state without
	// polling. Zero means none.
	Again time.Duration
}

// Reading is the result of a Query: an answer and its time, an error, or neither while the first answer is pending.
type Reading[A any] struct {
	Answer A
	At     time.Time
	Err    error
	// FailedSince is when the first of the last questions without an answer was sent; zero if that is not known.
	FailedSince time.Time
}

// Pending reports whether the question was sent and has no answer yet.
func (r *Reading[A]) Pending() bool { return r.Err == nil && r.At.IsZero() }

// System reads from external systems of one kind and sends commands to them. It holds no state that must survive: after a restart
// readings are pending, and the outcome of earlier commands is unknown.
type System[T Target, Q comparable, A, W any] interface {
	// Read returns one reading for every query, in order. It returns the last answers and sends the questions whose answers are
	// older than the query permits; an answer older than MaxAge is an error. If live is true it sends all questions now and
	// returns when the context ends at the latest.
	Read(ctx context.Context, target T, queries []Query[Q], live bool, now time.Time) []Reading[A]
	// Write sends a command at most once: another command with the same request ID is ignored.
	Write(ctx context.Context, target T, id machines.RequestID, command W)
	// Answer returns the outcome of the command with the request ID.
	Answer(target T, id machines.RequestID) Answer
	// Failure returns the outcome of the lifecycle's last command that ended, if it was refused or failed or is unknown, and none otherwise. The
	// status shows it after the visit of the state that sent the command, so that no request ID refers to it any more.
	Failure(target T, lifecycle string) Answer
	// InFlight returns whether a command of the lifecycle may still take effect although no current request ID refers to it. Without a
	// lifecycle it is any command for the object, such as one of a lifecycle whose entry was lost.
	InFlight(target T, lifecycle string) InFlight
	// Drop ends every call and connection to the system of a deleted object, and removes its state.
	Drop(object types.UID)
}
