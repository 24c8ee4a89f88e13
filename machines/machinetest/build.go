package machinetest

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
)

// Start is the time at which every row is evaluated, for facts that contain times.
var Start = time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)

// Clock is a clock that only the test moves. It is not safe for concurrent use.
type Clock struct{ now time.Time }

// NewClock returns a clock at Start.
func NewClock() *Clock { return &Clock{now: Start} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return c.now }

// Step advances the clock and returns its new time.
func (c *Clock) Step(d time.Duration) time.Time {
	c.now = c.now.Add(d)
	return c.now
}

// Attempt returns an attempt towards the target, with the id that the framework computes.
func Attempt(uid, lifecycle, target string, started time.Time) *lifecyclev1.Attempt {
	return &lifecyclev1.Attempt{
		ID: machines.AttemptID(uid, lifecycle, target, started), To: target, StartedAt: metav1.NewTime(started),
	}
}

// EntryBuilder builds an entry of status.lifecycles.
type EntryBuilder struct{ entry lifecyclev1.Lifecycle }

// Entry starts an entry that entered its state at Start.
func Entry(lifecycle, state string) *EntryBuilder {
	return &EntryBuilder{entry: lifecyclev1.Lifecycle{Name: lifecycle, State: state, EnteredAt: metav1.NewTime(Start)}}
}

// Entered sets when the state was entered.
func (b *EntryBuilder) Entered(at time.Time) *EntryBuilder {
	b.entry.EnteredAt = metav1.NewTime(at)
	return b
}

// Attempt sets the attempt.
func (b *EntryBuilder) Attempt(attempt *lifecyclev1.Attempt) *EntryBuilder {
	b.entry.Attempt = attempt
	return b
}

// Data sets the encoded data.
func (b *EntryBuilder) Data(coded map[string]string) *EntryBuilder {
	b.entry.Data = maps.Clone(coded)
	return b
}

// Progress sets the progress of the attempt.
func (b *EntryBuilder) Progress(done, total int32, unit string) *EntryBuilder {
	b.entry.Progress = &lifecyclev1.Progress{Done: done, Total: total, Unit: unit}
	return b
}

// Deadline sets when the wait becomes Stalled.
func (b *EntryBuilder) Deadline(at time.Time) *EntryBuilder {
	deadline := metav1.NewTime(at)
	b.entry.Deadline = &deadline
	return b
}

// TransitionsSinceProgress sets the number of transitions since the last progress.
func (b *EntryBuilder) TransitionsSinceProgress(n int32) *EntryBuilder {
	b.entry.TransitionsSinceProgress = n
	return b
}

// Obj returns a copy of the entry.
func (b *EntryBuilder) Obj() *lifecyclev1.Lifecycle { return b.entry.DeepCopy() }
