package runtime

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// defaultExecuteTimeout is long enough for the children of some thousand members at the default rate of requests of a manager.
const defaultExecuteTimeout = 2 * time.Minute

// limited calls a function of the kind that writes, with a context that ends after ExecuteTimeout. A panic becomes an error.
func (p *reconcileScope[O, S, E]) limited(ctx context.Context, what string, do func(context.Context) error) error {
	limit := &timeLimit{Context: ctx, until: time.Now().Add(p.kind.ExecuteTimeout)}
	defer limit.release()
	err := guarded(ctx, what, func() error { return do(limit) })
	if err != nil && ctx.Err() == nil && limit.Err() != nil {
		return fmt.Errorf("%s took longer than %s: %w", what, p.kind.ExecuteTimeout, err)
	}
	return err
}

// timeLimit is a context with a deadline. It has no timer before something waits for its end: at rest, a kind reads the cache only and
// waits for nothing.
type timeLimit struct {
	context.Context //nolint:containedctx // it is a context
	until           time.Time

	mu     sync.Mutex
	timed  context.Context //nolint:containedctx // replaces Context once there is a timer
	cancel context.CancelFunc
}

// Deadline implements context.Context.
func (l *timeLimit) Deadline() (time.Time, bool) {
	if outer, limited := l.Context.Deadline(); limited && outer.Before(l.until) {
		return outer, true
	}
	return l.until, true
}

// Done implements context.Context.
func (l *timeLimit) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timed == nil {
		l.timed, l.cancel = context.WithDeadline(l.Context, l.until)
	}
	return l.timed.Done()
}

// Err implements context.Context.
func (l *timeLimit) Err() error {
	if timed := l.current(); timed != l.Context {
		return timed.Err()
	}
	if err := l.Context.Err(); err != nil || time.Now().Before(l.until) {
		return err
	}
	return context.DeadlineExceeded
}

// Value implements context.Context. A context that is derived from the timer ends with it.
func (l *timeLimit) Value(key any) any { return l.current().Value(key) }

// current is the context with the timer, or the outer one without it.
func (l *timeLimit) current() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timed != nil {
		return l.timed
	}
	return l.Context
}

// release ends the timer.
func (l *timeLimit) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel()
	}
}
