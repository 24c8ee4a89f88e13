package kafka

import (
	"errors"
	"fmt"
)

// Protocol error codes that guards, actions and the simulator distinguish. Source:
// org.apache.kafka.common.protocol.Errors.
const (
	CodeUnknownServerError         int16 = -1
	CodeUnknownTopicOrPartition    int16 = 3
	CodeNotLeaderOrFollower        int16 = 6
	CodeRequestTimedOut            int16 = 7
	CodeNetworkException           int16 = 13
	CodeClusterAuthorizationFailed int16 = 31
	CodeUnsupportedVersion         int16 = 35
	CodeInvalidReplicationFactor   int16 = 38
	CodeInvalidReplicaAssignment   int16 = 39
	CodeInvalidConfig              int16 = 40
	CodeNotController              int16 = 41
	CodeInvalidRequest             int16 = 42
	CodeKafkaStorageError          int16 = 56
	CodeNoReassignmentInProgress   int16 = 85
	CodeInvalidUpdateVersion       int16 = 95
	CodeBrokerIDNotRegistered      int16 = 102
	CodeMismatchedEndpointType     int16 = 114
	CodeUnsupportedEndpointType    int16 = 115
)

// Refused is an error answer: Kafka received the request, did not execute it and returned the reason.
type Refused struct {
	// Code is the protocol error code, Name its upper-case name.
	Code int16  `json:"code"`
	Name string `json:"name"`
	// Message is Kafka's message. It may be empty.
	Message string `json:"message,omitempty"`
}

// Error quotes Kafka's answer.
func (r *Refused) Error() string {
	if r.Message == "" {
		return fmt.Sprintf("kafka answered %s (%d)", r.Name, r.Code)
	}
	return fmt.Sprintf("kafka answered %s (%d): %s", r.Name, r.Code, r.Message)
}

// Unreadable means that there is no answer to a request that changed nothing: a read, or a write that was not sent. A
// retry is always safe.
type Unreadable struct {
	// What was requested, such as "describing the quorum".
	What string
	Err  error
}

func (u *Unreadable) Error() string { return u.What + ": " + u.Err.Error() }

// Unwrap returns the cause.
func (u *Unreadable) Unwrap() error { return u.Err }

// Behind is a broker whose copy of the metadata log lacks records that the quorum has committed. Its answers about
// partitions, registrations and levels may be stale.
type Behind struct {
	// Broker is its address or id.
	Broker string
}

func (b *Behind) Error() string {
	return b.Broker + " has not caught up with the metadata log of the controllers: its answers are not current"
}

// OutcomeUnknown means that there is no answer to a write that may have been sent: Kafka may have executed it, may
// still execute it, or may never do so. Only a read can resolve it.
type OutcomeUnknown struct {
	// What was requested, such as "unregistering broker 4".
	What string
	Err  error
}

func (o *OutcomeUnknown) Error() string { return o.What + ": outcome unknown: " + o.Err.Error() }

// Unwrap returns the cause.
func (o *OutcomeUnknown) Unwrap() error { return o.Err }

// AsRefused returns Kafka's refusal if err is one and proves that nothing was executed.
func AsRefused(err error) (Refused, bool) {
	var r *Refused
	if errors.As(err, &r) && !IsOutcomeUnknown(err) {
		return *r, true
	}
	return Refused{}, false
}

// IsOutcomeUnknown reports whether a write that returned err may have been executed.
func IsOutcomeUnknown(err error) bool {
	var o *OutcomeUnknown
	return errors.As(err, &o)
}

// ReadFailure converts an error to what a Reader returns. A *Refused is returned unchanged, unless it only reports
// that the broker got no answer itself; that becomes *Unreadable.
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

// WriteFailure converts an error to what a Writer returns. left is whether the request may have reached Kafka. A
// refusal that does not say whether the controller executed the request, such as REQUEST_TIMED_OUT, becomes
// *OutcomeUnknown with Kafka's message.
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

// AfterAnother returns the failure of a request of a write of which an earlier request was executed. It is no refusal: of the write as a whole
// something took effect.
func AfterAnother(err error) error {
	return errors.New("an earlier request of it was executed, and then: " + err.Error())
}

// undecided reports whether the answer comes from a broker that got no answer from the controller in time.
func (r *Refused) undecided() bool {
	return r.Code == CodeRequestTimedOut || r.Code == CodeNetworkException || r.Code == CodeUnknownServerError
}
