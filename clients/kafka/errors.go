package kafka

import (
	"errors"
	"fmt"
)

// Error codes of the protocol that guards, actions and the simulator tell apart.
// Source: org.apache.kafka.common.protocol.Errors.
const (
	CodeUnknownTopicOrPartition    int16 = 3
	CodeRequestTimedOut            int16 = 7
	CodeClusterAuthorizationFailed int16 = 31
	CodeUnsupportedVersion         int16 = 35
	CodeNotController              int16 = 41
	CodeInvalidRequest             int16 = 42
	CodeInvalidUpdateVersion       int16 = 95
	CodeBrokerIDNotRegistered      int16 = 102
	CodeMismatchedEndpointType     int16 = 114
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

// AsRefused returns Kafka's refusal, if that is what the error is.
func AsRefused(err error) (Refused, bool) {
	var r *Refused
	if errors.As(err, &r) {
		return *r, true
	}
	return Refused{}, false
}

// IsOutcomeUnknown tells whether a write with this error may have been done.
func IsOutcomeUnknown(err error) bool {
	var o *OutcomeUnknown
	return errors.As(err, &o)
}
