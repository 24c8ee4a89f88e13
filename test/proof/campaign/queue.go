package campaign

import (
	"context"
	"errors"
	"sync"
)

// queue distributes runs to goroutines. When all runs of a plan were made, more of them may be added.
type queue struct {
	// inARow returns the number of consecutive runs in a namespace for the number that is left.
	inARow func(left int) int
	// again returns the number of further runs of a plan whose runs were all made. Optional.
	again func(of *tried) int

	mu sync.Mutex
	// more is signalled when runs were added, or when all runs that were taken were made.
	more    *sync.Cond
	waiting []*tried
	taken   int
	failed  error
	// given is the number of all runs so far.
	given int
}

// tried is a plan with the results of its runs. A nil result is a run that was not made, because an earlier one in its
// namespace failed.
type tried struct {
	plan    Plan
	results []*Result
	// pending is the number of runs that were not made yet, rounds how often runs were added.
	pending, rounds int
}

// repeats returns the number of further runs of a plan whose fault was not injected, after the first and the second round: its
// place does not occur in every run.
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

// give adds runs of a plan. The caller holds q.mu, or has the only reference to the queue.
func (q *queue) give(to *tried, runs int) {
	to.pending += runs
	to.rounds++
	q.given += runs
	for range runs {
		q.waiting = append(q.waiting, to)
	}
}

// take returns some runs, and how many of them are consecutive; none if there are no more.
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

// made records the results of runs that were taken.
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

// progress returns the number of runs that were made, and of all runs including added ones.
func (q *queue) progress() (done, of int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.given - len(q.waiting) - q.taken, q.given
}

// drain makes the runs in the given number of goroutines until none are left.
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
