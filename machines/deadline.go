package machines

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
)

// fixedDeadline returns the deadline of a Work or Wait state that was entered, or made progress, now.
func (l *evaluation[F, D, FX, E]) fixedDeadline(n *node[F, D, FX]) *metav1.Time {
	if n.Resting() || n.Deadline <= 0 {
		return nil
	}
	return l.stretched(l.now, l.now.Add(n.Deadline))
}

// restoreDeadline sets the fixed deadline of an entry that lost it, such as by an edit. It is of the time at which the state was entered, or
// of now if that is missing or in the future.
func (l *evaluation[F, D, FX, E]) restoreDeadline(out *lifecyclev1.Lifecycle, n *node[F, D, FX]) {
	if out.Deadline != nil || n.Resting() || n.Deadline <= 0 {
		return
	}
	from := l.notLaterThanNow(out.EnteredAt)
	out.Deadline = l.stretched(from, from.Add(n.Deadline))
}

// notLaterThanNow returns a time of the status, or now if it is missing or in the future.
func (l *evaluation[F, D, FX, E]) notLaterThanNow(at metav1.Time) time.Time {
	if at.IsZero() || at.After(l.now) {
		return l.now
	}
	return at.Time
}

// limitDeadline brings forward a fixed deadline that is later than it would be if the state was entered now: the clock was set back. The
// lifecycle would be shown as stalled as much too late as the clock was ahead.
func (l *evaluation[F, D, FX, E]) limitDeadline(out *lifecyclev1.Lifecycle, n *node[F, D, FX]) {
	if n.DeadlineAt != nil || out.Deadline == nil || !out.EnteredAt.After(l.now) {
		return
	}
	if latest := l.fixedDeadline(n); latest != nil && latest.Before(out.Deadline) {
		out.Deadline = latest
	}
}

// deadlineOfFacts returns the deadline that the facts give the state, or nil. It replaces the fixed deadline.
func (l *evaluation[F, D, FX, E]) deadlineOfFacts(out *lifecyclev1.Lifecycle, n *node[F, D, FX], data D) *metav1.Time {
	if n.DeadlineAt == nil || n.Kind == states.Rest {
		return nil
	}
	l.running = running{what: "deadline", of: n.Name}
	entered := out.EnteredAt.Time
	at := n.DeadlineAt(&l.facts, data, entered)
	if at.IsZero() {
		return nil
	}
	return l.stretched(entered, at)
}

func (l *evaluation[F, D, FX, E]) stretched(from, at time.Time) *metav1.Time {
	if l.scale > 0 {
		at = from.Add(time.Duration(min(float64(at.Sub(from))*l.scale, maxStretched)))
	}
	t := metav1.NewTime(Storable(at.Truncate(time.Second)))
	return &t
}

// maxStretched is about 146 years, in nanoseconds.
const maxStretched = 1 << 62

// Storable returns the time, or the last one that an API server stores. A status with a later one would be rejected as a whole, and a
// deadline may be computed from a time that was edited.
func Storable(at time.Time) time.Time {
	if last := time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC); at.After(last) {
		return last
	}
	return at
}

// postpone moves a deadline that depends on the facts to its current value, if that is later: the awaited process may have been
// restarted. It never brings a deadline forward, which could show a wait as stalled before its time.
func (l *evaluation[F, D, FX, E]) postpone(out *lifecyclev1.Lifecycle, n *node[F, D, FX], data D) {
	if at := l.deadlineOfFacts(out, n, data); at != nil && (out.Deadline == nil || out.Deadline.Before(at)) {
		out.Deadline = at
	}
}
