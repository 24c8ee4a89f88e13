package connectoroffsets

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// Operation is what a request does with the offsets.
type Operation string

// Operations, as users write them.
const (
	List  Operation = "list"
	Alter Operation = "alter"
	Reset Operation = "reset"
)

// Request is a request as the annotations and the spec show it.
type Request struct {
	Operation Operation
	// Digest identifies the body of an alter; empty for others, and if the body is missing or cannot be read.
	Digest string
	// Problem is why the request cannot be carried out; nil if it can.
	Problem *transitions.Problem
	// Unreadable is true if the Problem is that a ConfigMap cannot be read now, which says nothing about the request.
	Unreadable bool
	// Shown is true if the annotation of the operator shows the recorded request. All annotations are removed together: with it, the
	// others are still those of that request.
	Shown bool
}

// Phase is how far a request has come.
type Phase string

// Phases in order.
const (
	Accepted Phase = "accepted"
	// Sent: the change may have been executed since.
	Sent Phase = "sent"
	// Done: it had its effect.
	Done Phase = "done"
	// Ended: it was withdrawn or became invalid before it had an effect. The same request may be set again at once, unless it is held.
	Ended Phase = "ended"
)

// Hold is why a request that ended does not follow again before its annotations were removed.
type Hold string

// Holds.
const (
	// NotHeld: the same request may follow at once.
	NotHeld Hold = ""
	// HeldMismatched: it was sent, and what it did is not known.
	HeldMismatched Hold = "mismatched"
	// HeldExpired: it waited too long, and nothing was sent. The operator removes its annotations, as those of a request that is done.
	HeldExpired Hold = "expired"
)

// Record is the memory of the last request of a connector. It is stored outside status, before each step.
type Record struct {
	ID        string    `json:"id"`
	Operation Operation `json:"operation"`
	Digest    string    `json:"digest,omitempty"`
	Phase     Phase     `json:"phase"`
	// AcceptedAt is when it was recorded, or set again before anything was sent, and Attempt is the attempt of the lifecycle that did that.
	AcceptedAt time.Time `json:"acceptedAt,omitzero"`
	Attempt    string    `json:"attempt,omitempty"`
	// Sends counts the writes, SentAt is when the last one was sent.
	Sends  int       `json:"sends,omitempty"`
	SentAt time.Time `json:"sentAt,omitzero"`
	// Listed is the digest of the document that a list writes.
	Listed string `json:"listed,omitempty"`
	// DoneAt is when the request was done or ended.
	DoneAt time.Time `json:"doneAt,omitzero"`
	// Held is why the same request does not follow although it ended.
	Held Hold `json:"held,omitempty"`
	// Waited is what an expired request had waited for.
	Waited Awaited `json:"waited,omitempty"`
	// RemovedAt is when the annotations of the closed request were first seen removed.
	RemovedAt time.Time `json:"removedAt,omitzero"`
	// Released is true once the removal shows that the same request is meant if it is set again.
	Released bool `json:"released,omitempty"`
}

// HoldsStopped reports whether the connector must not be resumed: a change may be executed.
func (r Record) HoldsStopped() bool { return r.Phase == Sent }

// Expired reports whether the request lapsed before anything was sent.
func (r Record) Expired() bool { return r.Phase == Ended && r.Held == HeldExpired }

// Concluded reports whether the annotations of the request are to be removed: it is done, or it has lapsed.
func (r Record) Concluded() bool { return r.Phase == Done || r.Expired() }

// requests is where requests are recorded.
var requests = machines.RecordOf[Record]{
	Record: machines.Record{
		Name: "request", Home: "ConfigMap <resource>-offsets-request",
		Doc: "the id, the operation and the phase of each connector's last request; without it a change could be repeated after the status was lost",
	},
	Encode: func(r Record) string {
		text, err := json.Marshal(r)
		if err != nil {
			panic(err) // its fields are texts, numbers and times
		}
		return string(text)
	},
	Decode: func(text string) (r Record, err error) {
		if err = json.Unmarshal([]byte(text), &r); err != nil {
			return Record{}, fmt.Errorf("it is no request: %w", err)
		}
		return r, nil
	},
}

// ReadRecord returns the record of a connector from the stored texts; the zero value if there is none.
func ReadRecord(texts map[string]string, connector string) (Record, error) {
	r, _, err := requests.Read(texts, connector)
	return r, err
}
