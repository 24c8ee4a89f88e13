package connectoroffsets

import (
	"slices"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/transitions"
)

// Needs of the machine.
const (
	// NeedConnector is the connector with its tasks and workers, as Connect reports them.
	NeedConnector transitions.Need = "connector"
	// NeedOffsets is the offsets of the connector.
	NeedOffsets transitions.Need = "offsets"
)

// Facts of one connector.
type Facts struct {
	Now time.Time
	// Name of the connector: the key of its record.
	Name string
	// Request is what the annotations of the resource request of this connector; nil if nothing.
	Request *Request
	// Unclear is true if there are annotations that are not understood. They may be those of the recorded request.
	Unclear bool
	// Record is what the operator has recorded of the last request; zero if there was none.
	Record Record
	// OthersPending is true until the same request is done on all its other connectors.
	OthersPending bool
	// Entry is the digest of the connector's entry in the ConfigMap of a list; empty if there is none.
	Entry string
	// Answer to the write of this visit of the state.
	Answer Answer
	// Failure is why the last write failed, for the message of a state that waits after it; nil if that is not known.
	Failure *transitions.Problem
	// Settle is how long a write whose outcome is uncertain may still be executed after it was sent.
	Settle time.Duration
	// ExpireAfter is how long a request may wait before anything of it is sent. Zero means without limit.
	ExpireAfter time.Duration
	// Rested is true once the pause after a failure has passed.
	Rested    bool
	Connector transitions.Fact[Connector] `need:"connector"`
	Offsets   transitions.Fact[Offsets]   `need:"offsets"`
	// Attempt is the attempt in progress. Its id becomes the id of a request.
	Attempt *lifecyclev1.Attempt
}

// Connector is what Connect reports of the connector.
type Connector struct {
	Exists bool
	// Configured is true if it has the configuration that the resource declares.
	Configured bool
	// Stopped is true if it is STOPPED and no task is left.
	Stopped bool
	// Workers are the worker processes that may have run its tasks, sorted by name.
	Workers []Worker
}

// Worker is one worker process. Another process in the same pod is another worker.
type Worker struct {
	// ID identifies the process: the UID of its pod, or of its container.
	ID string
	// Name is the name of its pod.
	Name string
	// Ended is true if its container was seen terminated, or its node is gone or tainted out-of-service.
	Ended bool
	// Fenced is true if Connect fences it before it changes offsets: it and each process that may lead were started with exactly-once
	// source support.
	Fenced bool
	// Quiet is true if it answered that the connector has no tasks, after that was seen stopped, and the offsets stayed equal for
	// its longest commit since.
	Quiet bool
	// Silent is true if it has not answered for so long that it must be restarted.
	Silent bool
	// Doubt is why it may commit offsets for an unknown time, and what to do; nil if nothing hinders that this ends.
	Doubt *transitions.Problem
	// Sparse is true if it answers, but so rarely that its answers do not show that it was not frozen in between.
	Sparse bool
}

// Accounted reports whether the process cannot commit offsets of the connector any more.
func (w Worker) Accounted() bool { return w.Ended || w.Fenced || w.Quiet }

// Match is what the offsets of the connector are equal to.
type Match string

// Matches. Wanted wins if the request changes nothing.
const (
	// Other: neither of both.
	Other Match = ""
	// Before: what they were before the request.
	Before Match = "before"
	// Wanted: what the request asks for.
	Wanted Match = "wanted"
)

// Offsets are the offsets of the connector.
type Offsets struct {
	// Document is what a list writes and what is kept before a change: compact JSON.
	Document string
	// Digest of the document.
	Digest string
	// TooLarge is why the document does not fit into a ConfigMap with what else that holds; nil if it does.
	TooLarge *transitions.Problem
	Match    Match
	// Kept is true if these are the offsets that the operator's ConfigMap holds as those from before the recorded request.
	Kept bool
	// Steady is true if two readings, one flush interval apart, were equal, and every worker that has not ended answered before the
	// later one. A worker that is fenced and whose pod is gone need not.
	Steady bool
	// Unanswered is the first worker that has not answered as Steady requires; nil if all have.
	Unanswered *Unanswered
}

// Unanswered is a worker that has not answered since a change.
type Unanswered struct {
	// Worker is the name of its pod.
	Worker string
	// Doubt is that of the worker.
	Doubt *transitions.Problem
}

// AnswerState is the progress of a write.
type AnswerState string

// Answers to a write.
const (
	// NoAnswer: this process sent no write in this visit of the state.
	NoAnswer AnswerState = ""
	// Pending: it was sent and has no outcome yet.
	Pending AnswerState = "pending"
	// Confirmed: Connect has executed it.
	Confirmed AnswerState = "confirmed"
	// Refused: Connect has refused it with 400 or 404.
	Refused AnswerState = "refused"
	// NotExecuted: a rebalance is expected, or the write was not sent.
	NotExecuted AnswerState = "not-executed"
	// Uncertain: it may have been executed, may still be, or never will be.
	Uncertain AnswerState = "uncertain"
)

// Answer is the outcome of a write.
type Answer struct {
	State AnswerState
	// At is when it was received.
	At time.Time
	// Text quotes Connect.
	Text string
}

// Reasons of a write that failed.
const (
	ReasonRefused     transitions.Reason = "RefusedByConnect"
	ReasonNotExecuted transitions.Reason = "NotExecuted"
	ReasonUncertain   transitions.Reason = "OutcomeUnknown"
)

// Failure returns why the write failed, or may have, in Connect's words; nil if it has no outcome yet or was confirmed.
func (a Answer) Failure() *transitions.Problem {
	switch a.State {
	case Refused:
		return &transitions.Problem{Reason: ReasonRefused, Message: a.Text}
	case NotExecuted:
		return &transitions.Problem{Reason: ReasonNotExecuted, Message: a.Text}
	case Uncertain:
		return &transitions.Problem{Reason: ReasonUncertain, Message: a.Text}
	case NoAnswer, Pending, Confirmed:
	}
	return nil
}

// first returns the first worker that the condition holds for.
func (c *Connector) first(condition func(Worker) bool) *Worker {
	if i := slices.IndexFunc(c.Workers, condition); i >= 0 {
		return &c.Workers[i]
	}
	return nil
}

// worker returns the worker with the id, or nil.
func (c *Connector) worker(id string) *Worker {
	return c.first(func(w Worker) bool { return w.ID == id })
}
