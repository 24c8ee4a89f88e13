package kafka

import (
	"errors"
	"fmt"
)

// Error codes of the protocol that guards, actions and the simulator tell apart.
// Source: org.apache.kafka.common.protocol.Errors.
const (
	CodeUnknownServerError         int16 = -1
	CodeUnknownTopicOrPartition    int16 = 3
	CodeNotLeaderOrFollower        int16 = 6
	CodeRequestTimedOut            int16 = 7
	CodeNetworkException           int16 = 13
	CodeClusterAuthorizationFailed int16 = 31
	CodeUnsupportedVersion         int16 = 35
	CodeNotController              int16 = 41
	CodeInvalidRequest             int16 = 42
	CodeInvalidUpdateVersion       int16 = 95
	CodeBrokerIDNotRegistered      int16 = 102
	CodeMismatchedEndpointType     int16 = 114
	CodeUnsupportedEndpointType    int16 = 115
)

// Refused is an answer: Kafka got the request, did nothing of it and said why.
type Refused struct {
	// Code of the protocol, and its upper-case name.
	Code int16  `json:"code"`
	Name string `json:"name"`
	// Message is Kafka's own text. It may be empty.
	Message string `json:"message,omitempty"`
}

// Error quotes Kafka.
func (r *Refused) Error() string {
	if r.Message == "" {
		return fmt.Sprintf("kafka answered %s (%d)", r.Name, r.Code)
	}
	return fmt.Sprintf("kafka answered %s (%d): %s", r.Name, r.Code, r.Message)
}

// Unreadable is the lack of an answer to a request that changed nothing: a read, or a
// write that never left. Asking again is always safe.
type Unreadable struct {
	// What was asked, such as "describing the quorum".
	What string
	Err  error
}

func (u *Unreadable) Error() string { return u.What + ": " + u.Err.Error() }

// Unwrap gives the cause.
func (u *Unreadable) Unwrap() error { return u.Err }

// Behind is a broker whose copy of the metadata log lacks records that the quorum has committed. What it answers about
// partitions, registrations and levels may be out of date.
type Behind struct {
	// Broker is its address or id.
	Broker string
}

func (b *Behind) Error() string {
	return b.Broker + " has not caught up with the metadata log of the controllers: its answers are not current"
}

// OutcomeUnknown is the lack of an answer to a write that may have left: it may have
// been done, may still be done, or never. Only reading settles it.
type OutcomeUnknown struct {
	// What was asked, such as "unregistering broker 4".
	What string
	Err  error
}

func (o *OutcomeUnknown) Error() string { return o.What + ": outcome unknown: " + o.Err.Error() }

// Unwrap gives the cause.
func (o *OutcomeUnknown) Unwrap() error { return o.Err }

// AsRefused returns Kafka's refusal, if that is what the error is and nothing was done.
func AsRefused(err error) (Refused, bool) {
	var r *Refused
	if errors.As(err, &r) && !IsOutcomeUnknown(err) {
		return *r, true
	}
	return Refused{}, false
}

// IsOutcomeUnknown tells whether a write with this error may have been done.
func IsOutcomeUnknown(err error) bool {
	var o *OutcomeUnknown
	return errors.As(err, &o)
}

// ReadFailure is what a Reader returns for an error: Kafka's own answer stays what it
// is, unless it only says that Kafka got no answer itself.
func ReadFailure(what string, err error) error {
	var r *Refused
	switch {
	case errors.As(err, &r) && r.undecided():
		return &Unreadable{What: what, Err: errors.New(r.Error())}
	case r != nil:
		return r
	default:
		return &Unreadable{What: what, Err: err}
	}
}

// WriteFailure is what a Writer returns for an error. left says that the request may
// have reached Kafka. A refusal that leaves open whether the controller did it, such as
// REQUEST_TIMED_OUT, is an unknown outcome with Kafka's text.
func WriteFailure(what string, err error, left bool) error {
	var r *Refused
	switch {
	case errors.As(err, &r) && r.undecided():
		return &OutcomeUnknown{What: what, Err: errors.New(r.Error())}
	case r != nil:
		return r
	case left:
		return &OutcomeUnknown{What: what, Err: err}
	default:
		return &Unreadable{What: what, Err: err}
	}
}

// undecided answers come from a broker that waited for the controller in vain.
func (r *Refused) undecided() bool {
	return r.Code == CodeRequestTimedOut || r.Code == CodeNetworkException || r.Code == CodeUnknownServerError
}
