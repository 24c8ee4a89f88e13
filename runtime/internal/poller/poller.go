package poller

import "time"

// Reading is the last answer to a question, and its state.
type Reading[A any] struct {
	// Value is the last answer, and Err is why there is none. Value is shared by all
	// readers and must not be modified.
	Value A
	Err   error
	// AskedAt is when the answer was requested; what it says was true then or later. Zero
	// if there has been no answer.
	AskedAt time.Time
	// FailedSince is when the first of the last questions without an answer was asked. Zero if the last one was answered.
	FailedSince time.Time
	// Asking is true while an answer is queued or under way.
	Asking bool
}

// State is the state of the reading.
func (r Reading[A]) State() ReadingState {
	switch {
	case r.AskedAt.IsZero() && r.Asking:
		return Pending
	case r.AskedAt.IsZero():
		return NotAsked
	case r.Err != nil:
		return Unreadable
	default:
		return Known
	}
}

// ReadingState is whether a question has an answer.
type ReadingState uint8

// The states of a reading. A newer request that is under way does not change the state of
// the existing answer.
const (
	NotAsked ReadingState = iota
	Pending
	Known
	Unreadable
)

// String returns the name of the state.
func (s ReadingState) String() string {
	return [...]string{"not asked", "pending", "known", "unreadable"}[s]
}

// Number identifies a request: the attempt and the state of the machine that submits it,
// and a sequence that the machine increments to submit another one.
type Number struct {
	Attempt  string `json:"attempt"`
	State    string `json:"state"`
	Sequence int    `json:"sequence"`
}

// replaces reports whether a request with this number may replace one with the other
// number.
func (n Number) replaces(other Number) bool {
	return n.Attempt != other.Attempt || n.State != other.State || n.Sequence > other.Sequence
}

// Request is a write with its number.
type Request[W any] struct {
	Number  Number `json:"number"`
	Command W      `json:"command"`
}

// Result is the result of a write.
type Result string

// The results of a write, and Waiting for one without a result yet.
const (
	// Unknown: the write may have been executed, may still be, or never will be. Only a
	// read resolves it.
	Unknown Result = "unknown"
	Waiting Result = "waiting"
	Done    Result = "done"
	// Refused: the system refused the write and executed nothing.
	Refused Result = "refused"
)

// Outcome is the state of a request.
type Outcome struct {
	Number Number `json:"number"`
	Result Result `json:"result"`
	// NeverSent is true if the request was Refused before it was sent.
	NeverSent bool `json:"neverSent,omitempty"`
	// Code, Name and Text of a refusal, as the system reported them. Text is also the reason
	// of an Unknown result.
	Code int    `json:"code,omitempty"`
	Name string `json:"name,omitempty"`
	Text string `json:"text,omitempty"`
	// At is when the result was known, zero while Waiting.
	At time.Time `json:"at,omitzero"`
}

// lost is the outcome of a request that this process has no result of.
func lost(n Number, why string) Outcome { return Outcome{Number: n, Result: Unknown, Text: why} }

const (
	neverSeen  = "this process did not receive the request, or another one has replaced it"
	replaced   = "the connection of the request was replaced"
	superseded = "a later request of the same state was submitted before"
)
