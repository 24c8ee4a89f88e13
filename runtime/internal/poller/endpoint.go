package poller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Options configure an Endpoint. Ask, Write and Now are required.
type Options[Q comparable, A, W any] struct {
	// Ask sends a question to the system, and Write sends a command. Both must return when their context ends. Write
	// returns an Outcome without Number and At. Required.
	Ask   func(ctx context.Context, question Q) (A, error)
	Write func(ctx context.Context, command W) Outcome
	// Together returns how the questions that wait at the same time are asked. They are then asked concurrently, and a call of Together
	// has the time of one question. Optional; default: they are asked with Ask, one at a time.
	Together func(ctx context.Context, questions []Q) func(ctx context.Context, question Q) (A, error)
	// Wake is called after each answer and outcome, from a goroutine of the endpoint and without a lock held; with Together, concurrently.
	// Typically it enqueues the object for reconciling. Optional; default: none.
	Wake func()
	Now  func() time.Time
	// AskTimeout and WriteTimeout bound one call each. They are independent of a lease's renew deadline because no
	// reconcile waits for the call. Optional; default: 10 s and 30 s.
	AskTimeout, WriteTimeout time.Duration
	// Closed is called once, after Close and after the last call has returned, to close the client behind the endpoint.
	// Optional; default: none.
	Closed func()
	// Forget is how long an answer is kept that is neither read nor requested. Optional; default: 1 h.
	Forget time.Duration
	// Previous is the endpoint that this one replaces. It accepts no request any more, and this one continues with the outcome of its last
	// request. Optional; default: none.
	Previous *Endpoint[Q, A, W]
}

// ErrClosed is the reason why nothing is answered after Close.
var ErrClosed = errors.New("the poller is closed")

// Endpoint is one external system as a reconcile sees it: Q is a question, A its answer and W a write. None of its methods
// but Close waits for the system. Its calls run one at a time, writes before questions, and questions in the order they were
// requested; with Options.Together, the questions that wait at the same time are asked concurrently, as one call. It is safe
// for concurrent use. An idle endpoint has no goroutine.
type Endpoint[Q comparable, A, W any] struct {
	opts Options[Q, A, W]
	life context.Context //nolint:containedctx // the life of the endpoint, not of a call
	end  context.CancelFunc
	work sync.WaitGroup
	once sync.Once

	mu       sync.Mutex
	closed   bool
	running  bool
	queue    []Q
	readings map[Q]*entry[A]
	// next is a request that was submitted but not started.
	next *Request[W]
	// outcome is that of the last submitted request; has is whether there is one.
	outcome Outcome
	has     bool
	// failed is the outcome of the last request that ended, unless it is Done or of an earlier attempt than the last submitted one.
	failed *Outcome
	// writing is true while a request is being executed. effectAt is when a request last ended with a result other than
	// Refused.
	writing  bool
	effectAt time.Time
}

type entry[A any] struct {
	Reading[A]
	// wanted is when it was last read or requested.
	wanted time.Time
}

// New returns an endpoint. The caller must close it.
func New[Q comparable, A, W any](opts Options[Q, A, W]) *Endpoint[Q, A, W] {
	if opts.AskTimeout <= 0 {
		opts.AskTimeout = 10 * time.Second
	}
	if opts.WriteTimeout <= 0 {
		opts.WriteTimeout = 30 * time.Second
	}
	if opts.Forget <= 0 {
		opts.Forget = time.Hour
	}
	e := &Endpoint[Q, A, W]{opts: opts, readings: map[Q]*entry[A]{}}
	e.life, e.end = context.WithCancel(context.Background())
	if previous := opts.Previous; previous != nil {
		e.opts.Previous = nil
		previous.retire(e)
	}
	return e
}

// retire ends the endpoint in favour of another one, which is not in use yet, and tells it what it must know of the requests. A request that
// is queued or under way is lost with the endpoint: its result is Unknown, and it may have taken effect until now.
func (e *Endpoint[Q, A, W]) retire(next *Endpoint[Q, A, W]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	next.outcome, next.effectAt, next.has, next.failed = e.outcome, e.effectAt, e.has, e.failed
	if e.next != nil || e.writing {
		next.effectAt = e.opts.Now()
	}
	if e.has && e.outcome.Result == Waiting {
		next.outcome = lost(e.outcome.Number, replaced)
		next.outcome.At = next.effectAt
		failed := next.outcome
		next.failed = &failed
	}
}

// Close cancels the call under way and returns once no call and no goroutine of the endpoint is running. Answers stay
// readable; no further question is sent.
func (e *Endpoint[Q, A, W]) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.end()
	e.work.Wait()
	e.once.Do(func() {
		if e.opts.Closed != nil {
			e.opts.Closed()
		}
	})
}

// Read returns the last answer to the question, without sending it.
func (e *Endpoint[Q, A, W]) Read(question Q) Reading[A] {
	e.mu.Lock()
	defer e.mu.Unlock()
	known := e.readings[question]
	if known == nil {
		return Reading[A]{}
	}
	known.wanted = e.opts.Now()
	return known.Reading
}

// Query is a question with the maximum age of an answer that need not be renewed.
type Query[Q comparable] struct {
	Question Q
	MaxAge   time.Duration
}

// Ask sends the questions, except those that are queued or under way, and those whose last answer, readable or not, was requested less
// than their MaxAge ago. A reconcile that is requeued by answers and calls Ask each time must set MaxAge, otherwise it requeues itself
// forever.
func (e *Endpoint[Q, A, W]) Ask(queries ...Query[Q]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.opts.Now()
	for _, q := range queries {
		known := e.readings[q.Question]
		if known == nil {
			known = &entry[A]{}
			e.readings[q.Question] = known
		}
		known.wanted = now
		fresh := !known.AskedAt.IsZero() && now.Sub(known.AskedAt) < q.MaxAge
		if e.closed || known.Asking || fresh {
			continue
		}
		known.Asking = true
		e.queue = append(e.queue, q.Question)
	}
	if len(e.queue) > 0 {
		e.start()
	}
}

// start starts the goroutine if it is not running. The caller must hold e.mu.
func (e *Endpoint[Q, A, W]) start() {
	if !e.running {
		e.running = true
		e.work.Go(e.run)
	}
}

// run executes queued work and returns when there is none.
func (e *Endpoint[Q, A, W]) run() {
	for {
		request, questions := e.take()
		switch {
		case request != nil:
			e.write(*request)
			e.wake()
		case len(questions) == 1:
			e.ask(questions[0], e.opts.Ask, e.opts.Now())
		case len(questions) > 1:
			e.together(questions)
		default:
			return
		}
	}
}

// take removes the next work from the queue: a request, or a question, or with Together all of them. Without any, the goroutine ends.
func (e *Endpoint[Q, A, W]) take() (request *Request[W], questions []Q) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.next != nil:
		request, e.next, e.writing = e.next, nil, true
		return request, nil
	case e.opts.Together != nil:
		questions, e.queue = e.queue, nil
	case len(e.queue) > 0:
		questions = []Q{e.queue[0]}
		e.queue = slices.Delete(e.queue, 0, 1)
	}
	e.running = len(questions) > 0
	return nil, questions
}

func (e *Endpoint[Q, A, W]) wake() {
	if e.opts.Wake != nil && e.life.Err() == nil {
		e.opts.Wake()
	}
}

// together asks several questions at once.
func (e *Endpoint[Q, A, W]) together(questions []Q) {
	begun := e.opts.Now()
	ctx, cancel := context.WithTimeout(e.life, e.opts.AskTimeout)
	defer cancel()
	ask, err := Guard(func() (func(context.Context, Q) (A, error), error) { return e.opts.Together(ctx, questions), nil })
	if err != nil {
		ask = e.opts.Ask
	}
	var all sync.WaitGroup
	for _, question := range questions {
		all.Go(func() { e.ask(question, ask, begun) })
	}
	all.Wait()
}

// ask asks a question and stores its answer, which is of the time begun or later.
func (e *Endpoint[Q, A, W]) ask(question Q, with func(context.Context, Q) (A, error), begun time.Time) {
	ctx, cancel := context.WithTimeout(e.life, e.opts.AskTimeout)
	defer cancel()
	if e.life.Err() != nil {
		e.keep(question, func(known *entry[A]) { known.Asking = false })
		return
	}
	value, err := Guard(func() (A, error) { return with(ctx, question) })
	e.keep(question, func(known *entry[A]) {
		since := known.FailedSince
		switch {
		case err == nil:
			since = time.Time{}
		case since.IsZero():
			since = begun
		}
		known.Reading = Reading[A]{Value: value, Err: err, AskedAt: begun, FailedSince: since}
	})
	e.wake()
}

// keep changes what is stored for a question, and drops the answers that have expired.
func (e *Endpoint[Q, A, W]) keep(question Q, change func(*entry[A])) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(e.readings[question])
	now := e.opts.Now()
	for question, known := range e.readings {
		if !known.Asking && now.Sub(known.wanted) > e.opts.Forget {
			delete(e.readings, question)
		}
	}
}

// Guard converts a panic of a call into an error, so that it does not end the process.
func Guard[T any](call func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the call panicked: %v", p)
		}
	}()
	return call()
}
