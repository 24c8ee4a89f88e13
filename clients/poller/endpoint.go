package poller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Options say what an Endpoint is. Ask, Write and Now are required.
type Options[Q comparable, A, W any] struct {
	// Ask puts a question to the system, and Write hands it a command. Both end when their
	// context does. Write returns an Outcome without its Number and At.
	Ask   func(ctx context.Context, question Q) (A, error)
	Write func(ctx context.Context, command W) Outcome
	// Wake is called after each answer and outcome, from the goroutine of the endpoint and
	// with nothing locked. Nil wakes nobody.
	Wake func()
	Now  func() time.Time
	// AskTimeout and WriteTimeout bound one call each; 10 s and 30 s when they are 0. They
	// are the endpoint's, not a lease's: nobody waits for them.
	AskTimeout, WriteTimeout time.Duration
	// Closed is called once when the endpoint has been closed and nothing of it runs any
	// more, to close the client behind it. Nil calls nothing.
	Closed func()
	// Forget is how long an answer is kept that nobody reads or asks for; an hour when 0.
	Forget time.Duration
}

// ErrClosed is why nothing is answered after Close.
var ErrClosed = errors.New("the poller is closed")

// Endpoint is one outside system as a pass sees it: Q is a question, A its answer and W a
// write, and none of its methods waits for the world. Its calls run in a goroutine of its
// own, one at a time, writes before questions and questions in the order they were asked.
// It is safe for concurrent use. An endpoint with nothing to do has no goroutine.
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
	// next is a request that is handed over but not begun.
	next *Request[W]
	// outcome is that of the last request handed over; has tells whether there is one.
	outcome Outcome
	has     bool
	// writing says that a request is being carried out; effectAt is when one last ended that was not refused.
	writing  bool
	effectAt time.Time
}

type entry[A any] struct {
	Reading[A]
	// wanted is when it was last read or asked for.
	wanted time.Time
}

// New returns an endpoint. It must be closed.
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
	return e
}

// Close cancels the call under way and returns when nothing of the endpoint runs any
// more. What was asked stays readable; nothing new is asked.
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

// Read returns the last answer to the question.
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

// Ask has the question put anew, unless it is being put, or the last answer was asked for
// less than maxAge ago, whether it could be read or not. A pass that is woken by answers
// and asks in turn must give a maxAge, or it never rests.
func (e *Endpoint[Q, A, W]) Ask(question Q, maxAge time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.opts.Now()
	known := e.readings[question]
	if known == nil {
		known = &entry[A]{}
		e.readings[question] = known
	}
	known.wanted = now
	fresh := !known.AskedAt.IsZero() && now.Sub(known.AskedAt) < maxAge
	if e.closed || known.Asking || fresh {
		return
	}
	known.Asking = true
	e.queue = append(e.queue, question)
	e.start()
}

// Submit hands over a request and returns what has become of it so far. A number that was
// handed over before is not executed again. A number that is older than the last one of
// its attempt and state is not executed at all; its outcome is Unknown.
func (e *Endpoint[Q, A, W]) Submit(request Request[W]) Outcome {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.has && e.outcome.Number == request.Number:
		return e.outcome
	case e.has && !request.Number.replaces(e.outcome.Number):
		return lost(request.Number, superseded)
	case e.closed:
		return lost(request.Number, ErrClosed.Error())
	}
	e.next, e.has = &request, true
	e.outcome = Outcome{Number: request.Number, Result: Waiting}
	e.start()
	return e.outcome
}

// Outcome returns what has become of the request with this number: Unknown unless this
// process was handed it and nothing has taken its place.
func (e *Endpoint[Q, A, W]) Outcome(number Number) Outcome {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.has && e.outcome.Number == number {
		return e.outcome
	}
	return lost(number, neverSeen)
}

// Unsettled says what may still come of the requests of this process, whatever their numbers: whether one is under way, and
// when one last ended that was done or may be, zero if none did. Its effect may take a while to show.
func (e *Endpoint[Q, A, W]) Unsettled() (underWay bool, endedAt time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.next != nil || e.writing, e.effectAt
}

// start makes sure that the goroutine runs. e.mu is held.
func (e *Endpoint[Q, A, W]) start() {
	if !e.running {
		e.running = true
		e.work.Go(e.run)
	}
}

// run does what there is to do, and ends when nothing is left.
func (e *Endpoint[Q, A, W]) run() {
	for {
		request, question, ok := e.take()
		switch {
		case !ok:
			return
		case request != nil:
			e.write(*request)
		default:
			e.ask(question)
		}
		if e.opts.Wake != nil && e.life.Err() == nil {
			e.opts.Wake()
		}
	}
}

func (e *Endpoint[Q, A, W]) take() (request *Request[W], question Q, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.next != nil:
		request, e.next, e.writing = e.next, nil, true
		return request, question, true
	case len(e.queue) > 0:
		question = e.queue[0]
		e.queue = slices.Delete(e.queue, 0, 1)
		return nil, question, true
	default:
		e.running = false
		return nil, question, false
	}
}

func (e *Endpoint[Q, A, W]) ask(question Q) {
	ctx, cancel := context.WithTimeout(e.life, e.opts.AskTimeout)
	defer cancel()
	begun := e.opts.Now()
	if e.life.Err() != nil {
		e.keep(question, func(known *entry[A]) { known.Asking = false })
		return
	}
	value, err := guard(func() (A, error) { return e.opts.Ask(ctx, question) })
	e.keep(question, func(known *entry[A]) { known.Reading = Reading[A]{Value: value, Err: err, AskedAt: begun} })
}

// keep changes what is known of a question, and drops what nobody wants any more.
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

func (e *Endpoint[Q, A, W]) write(request Request[W]) {
	ctx, cancel := context.WithTimeout(e.life, e.opts.WriteTimeout)
	defer cancel()
	outcome, err := guard(func() (Outcome, error) {
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
	if e.outcome.Number == request.Number {
		e.outcome = outcome
	}
}

// guard turns a panic of a call into its error: a call that fails in a new way must not
// take down everything else.
func guard[T any](call func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the call panicked: %v", p)
		}
	}()
	return call()
}
