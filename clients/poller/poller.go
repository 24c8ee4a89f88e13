package poller

import "time"

// Reading is what is known of a question.
type Reading[A any] struct {
	// Value is the last answer, and Err why there is none. Value is shared by all readers
	// and must not be written to.
	Value A
	Err   error
	// AskedAt is when the answer was asked for, so what it says was true then or later.
	// Zero when there never was one.
	AskedAt time.Time
	// Asking says that an answer is under way.
	Asking bool
}

// State of the reading.
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

// The states of a reading. A newer answer that is under way does not change the state of
// the one that is there.
const (
	NotAsked ReadingState = iota
	Pending
	Known
	Unreadable
)

// String names the state.
func (s ReadingState) String() string {
	return [...]string{"not asked", "pending", "known", "unreadable"}[s]
}

// Number identifies a request: the attempt and the state of the machine that makes it,
// and a sequence that the machine counts up to make another one.
type Number struct {
	Attempt  string `json:"attempt"`
	State    string `json:"state"`
	Sequence int    `json:"sequence"`
}

// replaces tells whether a request with this number may take the place of another.
func (n Number) replaces(other Number) bool {
	return n.Attempt != other.Attempt || n.State != other.State || n.Sequence > other.Sequence
}

// Request is a write with its number.
type Request[W any] struct {
	Number  Number `json:"number"`
	Command W      `json:"command"`
}

// Result is how a write ended.
type Result string

// The results of a write, and Waiting for one that has none yet.
const (
	// Unknown: it may have been done, may still be, or never. Only reading settles it.
	Unknown Result = "unknown"
	Waiting Result = "waiting"
	Done    Result = "done"
	// Refused: the system said no and did nothing.
	Refused Result = "refused"
)

// Outcome is what became of a request.
type Outcome struct {
	Number Number `json:"number"`
	Result Result `json:"result"`
	// Code and Text of a refusal, in the system's own numbers and words. Text also says
	// why an outcome is unknown.
	Code int    `json:"code,omitempty"`
	Text string `json:"text,omitempty"`
	// At is when it was known, zero while it is Waiting.
	At time.Time `json:"at,omitzero"`
}

// lost is the outcome of a request that this process knows nothing of.
func lost(n Number, why string) Outcome { return Outcome{Number: n, Result: Unknown, Text: why} }

const (
	neverSeen  = "this process was not handed the request, or another one took its place"
	superseded = "a later request of the same state was handed over before"
)
