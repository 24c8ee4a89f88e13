package external

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/machines"
)

// Direct is a System that sends every request during the call, so that its users (plans and tests) are deterministic. It must
// not be used in a manager, whose reconciles must not block.
type Direct[T Target, C any, Q comparable, A, W any] struct {
	// Protocol of the systems. Required. Its clients are built for each call and closed after it.
	Protocol Protocol[T, C, Q, A, W]

	mu      sync.Mutex
	answers map[machines.RequestID]Answer
}

// Read sends every query now.
func (d *Direct[T, C, Q, A, W]) Read(ctx context.Context, target T, queries []Query[Q], _ bool, now time.Time) []Reading[A] {
	out := make([]Reading[A], len(queries))
	c, done, err := d.Protocol.Connect(target)
	if err == nil {
		defer done()
	}
	for i, q := range queries {
		if err != nil {
			out[i].Err = err
			continue
		}
		out[i].Answer, out[i].Err = d.Protocol.Ask(ctx, c, q.Question)
		out[i].At = now
	}
	return named(d.Protocol.System, out)
}

// Write executes the command now. Another command with the same request ID is ignored.
func (d *Direct[T, C, Q, A, W]) Write(ctx context.Context, target T, id machines.RequestID, command W) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, given := d.answers[id]; given {
		return
	}
	c, done, err := d.Protocol.Connect(target)
	if err == nil {
		defer done()
		err = d.Protocol.Execute(ctx, c, command)
	}
	if d.answers == nil {
		d.answers = map[machines.RequestID]Answer{}
	}
	// A lifecycle of an object has at most one command in flight; its earlier answers are not needed any more.
	maps.DeleteFunc(d.answers, func(t machines.RequestID, _ Answer) bool {
		return t.UID == id.UID && t.Lifecycle == id.Lifecycle
	})
	d.answers[id] = d.Protocol.answerOf(id, err)
}

// Answer returns the answer of the last command of the request ID's lifecycle, if the request ID is that of the command.
func (d *Direct[T, C, Q, A, W]) Answer(_ T, id machines.RequestID) Answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answers[id]
}

// Failure returns the outcome of the lifecycle's last command, unless it is Done.
func (d *Direct[T, C, Q, A, W]) Failure(target T, lifecycle string) Answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, uid := target.Object()
	for id, answer := range d.answers {
		if id.UID == string(uid) && id.Lifecycle == lifecycle && answer.State != Done {
			return answer
		}
	}
	return Answer{}
}

// InFlight returns none: every command has an outcome when Write returns.
func (d *Direct[T, C, Q, A, W]) InFlight(T, string) InFlight { return InFlight{} }

// Drop removes the answers of a deleted object.
func (d *Direct[T, C, Q, A, W]) Drop(object types.UID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.answers, func(t machines.RequestID, _ Answer) bool { return t.UID == string(object) })
}
