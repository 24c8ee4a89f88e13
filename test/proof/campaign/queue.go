package campaign

import (
	"context"
	"errors"
	"sync"
)

// queue gives runs to those who make them, many at a time. Once every run of a plan was made, it may be given more of them.
type queue struct {
	// inARow is how many runs follow one another in a namespace while so many are left.
	inARow func(left int) int
	// again says how many more runs a plan is given after these, all that were made of it. Optional.
	again func(of *tried) int

	mu sync.Mutex
	// more is told whenever runs were added, or all that were taken were made.
	more    *sync.Cond
	waiting []*tried
	taken   int
	failed  error
	// given are all runs so far.
	given int
}

// tried is a plan, and what came of its runs: nil of one that was not made, since one before it in its namespace went wrong.
type tried struct {
	plan    Plan
	results []*Result
	// pending runs are those that were not made yet, rounds how often it was given some.
	pending, rounds int
}

// repeats is how many runs more a plan is given whose runs did not strike, the first time and then once more: what it strikes at does
// not happen in every run.
func (t *tried) repeats() int {
	runs := [...]int{4, 8}
	if t.rounds > len(runs) {
		return 0
	}
	return runs[t.rounds-1]
}

func newQueue(plans []Plan, inARow func(left int) int) (*queue, []*tried) {
	q := &queue{inARow: inARow}
	q.more = sync.NewCond(&q.mu)
	all := make([]*tried, len(plans))
	for i, p := range plans {
		all[i] = &tried{plan: p}
		q.give(all[i], 1)
	}
	return q, all
}

// give a plan so many runs. q.mu is held, or nobody else has the queue yet.
func (q *queue) give(to *tried, runs int) {
	to.pending += runs
	to.rounds++
	q.given += runs
	for range runs {
		q.waiting = append(q.waiting, to)
	}
}

// take some runs, and how many of them follow one another; none if there are none any more.
func (q *queue) take() (some []*tried, row int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && q.taken > 0 && q.failed == nil {
		q.more.Wait()
	}
	if len(q.waiting) == 0 || q.failed != nil {
		return nil, 0
	}
	row = q.inARow(len(q.waiting))
	n := min(batch*row, len(q.waiting))
	some, q.waiting = q.waiting[:n:n], q.waiting[n:]
	q.taken += n
	return some, row
}

// made takes down what came of runs that were taken.
func (q *queue) made(some []*tried, results []*Result, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failed = errors.Join(q.failed, err)
	q.taken -= len(some)
	for i, t := range some {
		t.results = append(t.results, results[i])
		t.pending--
		if t.pending > 0 || q.again == nil {
			continue
		}
		if runs := q.again(t); runs > 0 {
			q.give(t, runs)
		}
	}
	q.more.Broadcast()
}

// progress is how many runs were made, and of how many. Runs that are added make these more.
func (q *queue) progress() (done, of int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.given - len(q.waiting) - q.taken, q.given
}

// drain lets so many make runs side by side until none are left.
func (q *queue) drain(ctx context.Context, makers int, run func(ctx context.Context, plans []Plan, row int) ([]*Result, error)) error {
	var group sync.WaitGroup
	for range makers {
		group.Go(func() {
			for some, row := q.take(); len(some) > 0; some, row = q.take() {
				plans := make([]Plan, len(some))
				for i, t := range some {
					plans[i] = t.plan
				}
				results, err := run(ctx, plans, row)
				q.made(some, results, err)
			}
		})
	}
	group.Wait()
	return q.failed
}
