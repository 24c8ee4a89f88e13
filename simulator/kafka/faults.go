package kafka

import (
	"errors"
	"slices"

	client "github.com/detent-dev/detent/clients/kafka"
)

// Ways in which a request gets no answer.
var (
	// ErrUnreachable: the request never arrived.
	ErrUnreachable = errors.New("connection refused")
	// ErrNoAnswer: the request arrived, or may have, and no answer came back in time.
	ErrNoAnswer = errors.New("timed out waiting for an answer")
)

// FaultKind is what goes wrong with a request.
type FaultKind uint8

const (
	// Refuse answers with Code and Message instead of doing anything.
	Refuse FaultKind = iota
	// Hang does nothing and answers nothing.
	Hang
	// LoseReply does what was asked and answers nothing.
	LoseReply
)

// Fault is one scripted failure.
type Fault struct {
	Request Request
	Kind    FaultKind
	// Target is the id that the request is about (the broker to unregister) or is put to
	// (directories, configurations); None for any.
	Target int32
	// Code and Message of a refusal.
	Code    int16
	Message string
	// Times is how often it strikes before it is gone, 0 for ever.
	Times int
}

// AddFault scripts a failure. The first that fits a request strikes.
func (c *Cluster) AddFault(f Fault) { c.Faults = append(slices.Clone(c.Faults), f) }

// ClearFaults removes all scripted failures.
func (c *Cluster) ClearFaults() { c.Faults = nil }

// strike returns the fault that meets the request and counts it down.
func (c *Cluster) strike(request Request, target int32) (Fault, bool) {
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

// guarded runs the work of a request under whatever fault meets it. A refusal, the
// work's own or a scripted one, is a *client.Refused.
func (c *Cluster) guarded(request Request, target int32, work func() error) error {
	f, struck := c.strike(request, target)
	switch {
	case !struck:
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
