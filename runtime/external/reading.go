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
		return Reading[A]{Err: r.Err, FailedSince: r.FailedSince}
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

// named adds the name of the system to the errors of the readings.
func named[A any](system string, readings []Reading[A]) []Reading[A] {
	for i := range readings {
		if r := &readings[i]; system != "" && r.Err != nil {
			r.Err = &ofSystem{system: system, err: r.Err}
		}
	}
	return readings
}

// Fact converts a reading of which value is the requested part. An answer without it is a defect of the client, and unreadable. The
// addresses of a connection are removed from its error.
func Fact[A, V any](r *Reading[A], value *V) transitions.Fact[V] {
	switch {
	case r.Err != nil:
		return transitions.UnreadableSince[V](withoutAddresses(r.Err), r.FailedSince)
	case r.Pending():
		return transitions.Pending[V]()
	case value == nil:
		return transitions.Unreadable[V](errNoAnswer)
	default:
		return transitions.Known(*value, r.At)
	}
}
