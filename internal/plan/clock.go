package plan

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// virtual is a clock that moves only when its time is set.
type virtual struct{ now time.Time }

func (v *virtual) Now() time.Time                  { return v.now }
func (v *virtual) Since(t time.Time) time.Duration { return v.now.Sub(t) }

// job is one recurring task: a driver for one object.
type job struct {
	// driver is the position of the driver. Negative numbers are the events of simulations, from the first to the last, -1.
	driver int
	name   types.NamespacedName
}

// queue holds the due time of each job.
type queue struct{ due map[job]time.Time }

// at enqueues the job for a time, unless it is already due earlier.
func (q *queue) at(j job, at time.Time) {
	if old, waits := q.due[j]; !waits || at.Before(old) {
		q.due[j] = at
	}
}

// pop removes and returns the job that is due first. Jobs with equal times are ordered by driver, then by name.
func (q *queue) pop() (job, time.Time, bool) {
	if len(q.due) == 0 {
		return job{}, time.Time{}, false
	}
	first := slices.MinFunc(slices.Collect(maps.Keys(q.due)), func(a, b job) int {
		return cmp.Or(q.due[a].Compare(q.due[b]), cmp.Compare(a.driver, b.driver), cmp.Compare(a.name.Namespace, b.name.Namespace), cmp.Compare(a.name.Name, b.name.Name))
	})
	at := q.due[first]
	delete(q.due, first)
	return first, at, true
}
