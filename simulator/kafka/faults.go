package kafka

import (
	"errors"
	"slices"

	client "github.com/detent-dev/detent/clients/kafka"
)

// The errors of a request without an answer.
var (
	// ErrUnreachable: the request did not arrive.
	ErrUnreachable = errors.New("connection refused")
	// ErrNoAnswer: the request arrived, or may have arrived, and no answer was received
	// before the timeout.
	ErrNoAnswer = errors.New("timed out waiting for an answer")
)

// FaultKind is how a request fails.
type FaultKind uint8

const (
	// Refuse answers with Code and Message and does not execute the request.
	Refuse FaultKind = iota
	// Hang neither executes the request nor answers.
	Hang
	// LoseReply executes the request and does not answer.
	LoseReply
)

// Fault is one scripted failure of a request.
type Fault struct {
	Request Request
	Kind    FaultKind
	// Target restricts the fault to an id: the broker to unregister, or the broker that is
	// asked (directories, configurations); None matches any id.
	Target int32
	// Code and Message of a refusal.
	Code    int16
	Message string
	// Times is how many requests fail before the fault is removed, 0 for no limit.
	Times int
}

// AddFault adds a scripted failure. The first one that matches a request applies.
func (c *Cluster) AddFault(f Fault) { c.Faults = append(slices.Clone(c.Faults), f) }

// ClearFaults removes all scripted failures.
func (c *Cluster) ClearFaults() { c.Faults = nil }

// injectedFault returns the fault that matches the request and decrements its Times.
func (c *Cluster) injectedFault(request Request, target int32) (Fault, bool) {
	for i, f := range c.Faults {
		if f.Request != request || f.Target != None && f.Target != target {
			continue
		}
		if f.Times > 0 {
			faults := slices.Clone(c.Faults)
			faults[i].Times--
			if faults[i].Times == 0 {
				faults = slices.Delete(faults, i, i+1)
			}
			c.Faults = faults
		}
		return f, true
	}
	return Fault{}, false
}

// guarded executes work, the work of a request, subject to the fault that matches it. A
// refusal by work or by the fault is a *client.Refused.
func (c *Cluster) guarded(request Request, target int32, work func() error) error {
	f, injected := c.injectedFault(request, target)
	switch {
	case !injected:
		return work()
	case f.Kind == Refuse:
		return refused(f.Code, f.Message)
	case f.Kind == LoseReply:
		if err := work(); err != nil {
			return err
		}
		return ErrNoAnswer
	default:
		return ErrNoAnswer
	}
}

func refused(code int16, message string) *client.Refused {
	return &client.Refused{Code: code, Name: client.CodeName(code), Message: message}
}
