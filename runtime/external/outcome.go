package external

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Refusal is the error of a request that the system rejected: it did not execute it.
type Refusal struct {
	// Code and Name of the error in the system's protocol.
	Code int
	Name string
	// Text is the system's message. It contains no secrets.
	Text string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("refused with %d %s: %s", r.Code, r.Name, r.Text)
}

// NeverSent is the error of a command that did not reach the system: it cannot take effect any more. An Execute may return it only with
// proof, since the system then counts as unchanged: a deletion may end. With net/http the proof is that the request got no connection,
// which httptrace.ClientTrace.GotConn reports; HTTP does so.
type NeverSent struct{ Err error }

func (n *NeverSent) Error() string { return n.Err.Error() }

// Unwrap returns the reason.
func (n *NeverSent) Unwrap() error { return n.Err }

// OutcomeOf is the Outcome of a protocol that declares none. Only three errors prove that a command was not executed: a *Refusal, a
// *NeverSent, and a connection that could not be opened. The outcome of every other error is unknown, also of a *url.Error, whatever it
// wraps: net/http follows a redirect after the command was executed, and repeats a request whose connection was lost.
func OutcomeOf(err error) Answer {
	if refused, ok := errors.AsType[*Refusal](err); ok {
		return Answer{State: Refused, Code: refused.Code, Name: refused.Name, Text: refused.Text}
	}
	state := Unknown
	if wasNeverSent(err) {
		state = Failed
	}
	return Answer{State: state, Text: withoutAddresses(err).Error()}
}

func wasNeverSent(err error) bool {
	if _, ok := errors.AsType[*NeverSent](err); ok {
		return true
	}
	if _, several := errors.AsType[*url.Error](err); several {
		return false
	}
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "dial"
}

// ofSystem is an error with the name of the system that it is about.
type ofSystem struct {
	system string
	err    error
}

func (o *ofSystem) Error() string { return o.system + ": " + o.err.Error() }

// Unwrap returns the reason.
func (o *ofSystem) Unwrap() error { return o.err }

// withoutAddresses removes the addresses of a connection from its error. Each connection has another local port, so that a status that
// shows the error would be written again and again. URLs are removed as well: they may contain secrets.
func withoutAddresses(err error) error {
	system := "the system"
	if of, ok := errors.AsType[*ofSystem](err); ok {
		system = of.system
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s does not answer: %s: %w", system, failed.Op, failed.Err)
	}
	text := err.Error()
	for failed, ok := errors.AsType[*url.Error](err); ok; failed, ok = errors.AsType[*url.Error](failed.Err) {
		text = strings.ReplaceAll(text, failed.Error(), failed.Op+": "+failed.Err.Error())
	}
	if text == err.Error() {
		return err
	}
	return &shownError{text: text, err: err}
}

// shownError is an error with another text for users.
type shownError struct {
	text string
	err  error
}

func (s *shownError) Error() string { return s.text }

// Unwrap returns the error.
func (s *shownError) Unwrap() error { return s.err }
