package connect

import (
	"errors"
	"fmt"
)

// HTTP status codes by which Connect refuses.
const (
	// CodeBadRequest: the connector is not stopped, or the body or a configuration is not acceptable.
	CodeBadRequest = 400
	// CodeNotFound: the connector does not exist.
	CodeNotFound = 404
	// CodeConflict: a rebalance is expected, no leader is known, or the connector exists already.
	CodeConflict = 409
	// CodeInternal: anything else, such as an offset that the connector rejects, a body that is not of the expected shape, and
	// Connect's own time-out. It does not prove that nothing was executed.
	CodeInternal = 500
)

// Refused is an error answer of Connect.
type Refused struct {
	// Code is the HTTP status code.
	Code int `json:"code"`
	// Message is Connect's message, without what looks like a secret. It may be empty.
	Message string `json:"message,omitempty"`
}

// Error quotes Connect's answer.
func (r *Refused) Error() string {
	if r.Message == "" {
		return fmt.Sprintf("connect answered %d", r.Code)
	}
	return fmt.Sprintf("connect answered %d: %s", r.Code, r.Message)
}

// Unreadable means that there is no answer to a request that changed nothing: a read, or a write that was not sent. A retry is
// always safe.
type Unreadable struct {
	// What was requested, such as "reading the offsets of a->b.MirrorSourceConnector".
	What string
	Err  error
}

func (u *Unreadable) Error() string { return u.What + ": " + u.Err.Error() }

// Unwrap returns the cause. It is a *Refused if Connect answered with a code that says nothing about what was read.
func (u *Unreadable) Unwrap() error { return u.Err }

// OutcomeUnknown means that it is not known whether a write was executed: the answer was lost, or does not contain it. Connect
// may still execute it, also after a time-out. Only a read can resolve it.
type OutcomeUnknown struct {
	What string
	Err  error
}

func (o *OutcomeUnknown) Error() string { return o.What + ": outcome unknown: " + o.Err.Error() }

// Unwrap returns the cause. It is a *Refused if Connect answered.
func (o *OutcomeUnknown) Unwrap() error { return o.Err }

// AsRefused returns Connect's refusal if err is one and proves that nothing was executed.
func AsRefused(err error) (Refused, bool) {
	var u *Unreadable
	if IsOutcomeUnknown(err) || errors.As(err, &u) {
		return Refused{}, false
	}
	return Answer(err)
}

// Answer returns Connect's error answer if err contains one. It does not prove that nothing was executed.
func Answer(err error) (Refused, bool) {
	if r, found := errors.AsType[*Refused](err); found {
		return *r, true
	}
	return Refused{}, false
}

// IsOutcomeUnknown reports whether a write that returned err may have been executed.
func IsOutcomeUnknown(err error) bool {
	var o *OutcomeUnknown
	return errors.As(err, &o)
}

// ReadFailure converts an error to what a Reader returns. Answers other than 400, 404 and 409 are no statement about what was
// requested: they become *Unreadable, with the answer as their cause.
func ReadFailure(what string, err error) error {
	if r, answered := Answer(err); answered && r.decisive() {
		return &r
	}
	return &Unreadable{What: what, Err: err}
}

// WriteFailure converts an error to what a Writer returns. sent is whether the request may have reached a worker.
func WriteFailure(what string, err error, sent bool) error {
	r, answered := Answer(err)
	switch {
	case answered && r.decisive():
		return &r
	case sent:
		return &OutcomeUnknown{What: what, Err: err}
	default:
		return &Unreadable{What: what, Err: err}
	}
}

// decisive reports whether Connect answers with the code only before it executes anything.
func (r Refused) decisive() bool {
	return r.Code == CodeBadRequest || r.Code == CodeNotFound || r.Code == CodeConflict
}

// Transient reports whether the same request is worth another try: Connect refuses it only for now. It was not executed.
func (r Refused) Transient() bool { return r.Code == CodeConflict }
