package poller

import (
	"context"
	"time"
)

// Submit enqueues a request and returns its outcome so far. A number that was submitted before is not executed again. A
// number that is lower than the last one of its attempt and state is not executed at all; its outcome is Unknown.
func (e *Endpoint[Q, A, W]) Submit(request Request[W]) Outcome {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.has && e.outcome.Number == request.Number:
		return e.outcome
	case e.has && !request.Number.replaces(e.outcome.Number):
		return e.superseded(request.Number)
	case e.closed:
		return lost(request.Number, ErrClosed.Error())
	}
	e.next, e.has = &request, true
	if e.failed != nil && e.failed.Number.Attempt != request.Number.Attempt {
		e.failed = nil
	}
	e.outcome = Outcome{Number: request.Number, Result: Waiting}
	e.start()
	return e.outcome
}

// Outcome returns the outcome of the request with this number. It is Unknown unless this process received the request and
// no other one has replaced it. Only a number that Submit would execute has an outcome without a time, unless it is Waiting.
func (e *Endpoint[Q, A, W]) Outcome(number Number) Outcome {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.has && e.outcome.Number == number:
		return e.outcome
	case e.has && !number.replaces(e.outcome.Number):
		return e.superseded(number)
	}
	return lost(number, neverSeen)
}

// Failed returns the outcome of the last request that ended, if it is not Done, and false otherwise. It is kept while a later request of the
// same attempt has no result.
func (e *Endpoint[Q, A, W]) Failed() (outcome Outcome, failed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed == nil {
		return Outcome{}, false
	}
	return *e.failed, true
}

// superseded returns the outcome of a number that is not executed any more. Such a number is that of an older status that was
// put back.
func (e *Endpoint[Q, A, W]) superseded(number Number) Outcome {
	o := lost(number, superseded)
	o.At = e.opts.Now()
	return o
}

// Unsettled reports which effects of this process's requests may still be pending, for all numbers: whether a request is
// queued or under way, and when a request last ended as Done or Unknown, zero if none did. Its effect may be delayed.
func (e *Endpoint[Q, A, W]) Unsettled() (underWay bool, endedAt time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.next != nil || e.writing, e.effectAt
}

func (e *Endpoint[Q, A, W]) write(request Request[W]) {
	ctx, cancel := context.WithTimeout(e.life, e.opts.WriteTimeout)
	defer cancel()
	outcome, err := Guard(func() (Outcome, error) {
		if e.life.Err() != nil {
			return Outcome{}, ErrClosed
		}
		return e.opts.Write(ctx, request.Command), nil
	})
	if err != nil {
		outcome = Outcome{Result: Unknown, Text: err.Error()}
	}
	outcome.Number, outcome.At = request.Number, e.opts.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writing = false
	if outcome.Result != Refused {
		e.effectAt = outcome.At
	}
	if e.outcome.Number != request.Number {
		return
	}
	e.outcome, e.failed = outcome, nil
	if outcome.Result != Done {
		e.failed = &outcome
	}
}
