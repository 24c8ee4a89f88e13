package external

import (
	"errors"
	"time"

	"github.com/detent-dev/detent/runtime/internal/poller"
	"github.com/detent-dev/detent/transitions"
)

var errTooOld = errors.New("the last answer is too old, and no new one is under way")

// readingOf converts the state of a question: an answer that is not too old, an error, or pending.
func readingOf[A any](r poller.Reading[A], maxAge time.Duration, now time.Time) Reading[A] {
	switch r.State() {
	case poller.Unreadable:
		return Reading[A]{Err: r.Err}
	case poller.Known:
		switch {
		case now.Sub(r.AskedAt) <= maxAge:
			return Reading[A]{Answer: r.Value, At: r.AskedAt}
		case r.Asking:
			return Reading[A]{}
		}
		return Reading[A]{Err: errTooOld}
	default:
		return Reading[A]{}
	}
}

var errNoAnswer = errors.New("the answer contains no value")

// Fact converts a reading of which value is the requested part. An answer without it is a defect of the client, and unreadable. The
// addresses of a connection are removed from its error.
func Fact[A, V any](r *Reading[A], value *V) transitions.Fact[V] {
	switch {
	case r.Err != nil:
		return transitions.Unreadable[V](withoutAddresses(r.Err))
	case r.Pending():
		return transitions.Pending[V]()
	case value == nil:
		return transitions.Unreadable[V](errNoAnswer)
	default:
		return transitions.Known(*value, r.At)
	}
}
