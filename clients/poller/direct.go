package poller

import (
	"context"
	"time"
)

// Direct is a Poller that calls within its methods: every Read is a fresh answer, and
// Submit returns the outcome. It keeps only what became of the last request, in a value
// of its own, so that a simulated operator can be copied or lose its memory. It is not
// safe for concurrent use.
type Direct[Q comparable, A, W any] struct {
	Put   func(ctx context.Context, question Q) (A, error)
	Write func(ctx context.Context, command W) Outcome
	Now   func() time.Time
	// Memory is what became of the last request. It may be replaced at any time; a zero
	// one is that of a process that has just started.
	Memory *Memory
}

// Memory is what a process remembers of its last request.
type Memory struct {
	Outcome Outcome `json:"outcome"`
	Has     bool    `json:"has"`
}

// Read implements Poller.
func (d Direct[Q, A, W]) Read(question Q) Reading[A] {
	value, err := d.Put(context.Background(), question)
	return Reading[A]{Value: value, Err: err, AskedAt: d.Now()}
}

// Ask implements Poller. There is nothing to do: Read asks.
func (d Direct[Q, A, W]) Ask(Q, time.Duration) {}

// Submit implements Poller.
func (d Direct[Q, A, W]) Submit(request Request[W]) Outcome {
	m := d.Memory
	switch {
	case m.Has && m.Outcome.Number == request.Number:
		return m.Outcome
	case m.Has && !request.Number.replaces(m.Outcome.Number):
		return lost(request.Number, superseded)
	}
	m.Outcome, m.Has = d.Write(context.Background(), request.Command), true
	m.Outcome.Number, m.Outcome.At = request.Number, d.Now()
	return m.Outcome
}

// Outcome implements Poller.
func (d Direct[Q, A, W]) Outcome(number Number) Outcome {
	if d.Memory.Has && d.Memory.Outcome.Number == number {
		return d.Memory.Outcome
	}
	return lost(number, neverSeen)
}
