package external

import (
	"errors"
	"fmt"
	"net"
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

// OutcomeOf is the Outcome of a protocol that declares none. Only two errors prove that a command was not executed: a *Refusal, and a
// connection that could not be opened. The outcome of every other error is unknown.
func OutcomeOf(err error) Answer {
	if refused, ok := errors.AsType[*Refusal](err); ok {
		return Answer{State: Refused, Code: refused.Code, Name: refused.Name, Text: refused.Text}
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" {
		return Answer{State: Failed, Text: withoutAddresses(err).Error()}
	}
	return Answer{State: Unknown, Text: withoutAddresses(err).Error()}
}

// withoutAddresses removes the addresses of a connection from its error. Each connection has another local port, so that a status that
// shows the error would be written again and again.
func withoutAddresses(err error) error {
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("the system does not answer: %s: %w", failed.Op, failed.Err)
	}
	return err
}
