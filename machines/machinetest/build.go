package machinetest

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
)

// Start is the time at which every row is decided, for facts that carry times.
var Start = time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)

// Clock is a time that only a test moves. It is not safe for concurrent use.
type Clock struct{ now time.Time }

// NewClock starts at Start.
func NewClock() *Clock { return &Clock{now: Start} }

// Now is the time of the clock.
func (c *Clock) Now() time.Time { return c.now }

// Step moves the clock on and returns its new time.
func (c *Clock) Step(d time.Duration) time.Time {
	c.now = c.now.Add(d)
	return c.now
}

// Attempt makes an attempt towards the target, with the id that the framework would give it.
func Attempt(uid, lifecycle, target string, started time.Time) *lifecyclev1.Attempt {
	return &lifecyclev1.Attempt{
		ID: machines.AttemptID(uid, lifecycle, target, started), To: target, StartedAt: metav1.NewTime(started),
	}
}

// EntryBuilder builds an entry of status.lifecycles.
type EntryBuilder struct{ entry lifecyclev1.Lifecycle }

// Entry begins an entry that entered its state at Start.
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

// Memo sets the coded memo.
func (b *EntryBuilder) Memo(coded map[string]string) *EntryBuilder {
	b.entry.Memo = maps.Clone(coded)
	return b
}

// Progress sets what the attempt has done.
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

// Edges sets how many transitions were taken since the last progress.
func (b *EntryBuilder) Edges(n int32) *EntryBuilder {
	b.entry.Edges = n
	return b
}

// Obj is the entry.
func (b *EntryBuilder) Obj() *lifecyclev1.Lifecycle { return b.entry.DeepCopy() }
