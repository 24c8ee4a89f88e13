package campaign

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Plans whose fault was not injected get more runs while others are still being made, and no goroutine waits for runs that are
// never added.
func TestQueue(t *testing.T) {
	broken := errors.New("no namespace")
	for name, tc := range map[string]struct {
		plans  int
		inject func(plan Plan, nth int) bool
		fail   error
		// runs of each plan, and the longest row of runs.
		want []int
		row  int
		err  error
	}{
		"every plan is injected":       {plans: 5, inject: func(Plan, int) bool { return true }, want: []int{1, 1, 1, 1, 1}, row: 1},
		"many plans are made in a row": {plans: 30, inject: func(Plan, int) bool { return true }, want: slices.Repeat([]int{1}, 30), row: 3},
		"one hits the third time":      {plans: 2, inject: func(p Plan, nth int) bool { return p.Point.About == "" || nth == 3 }, want: []int{1, 5}, row: 1},
		"one never is injected":        {plans: 2, inject: func(p Plan, _ int) bool { return p.Point.About == "" }, want: []int{1, 13}, row: 1},
		"no plans":                     {inject: func(Plan, int) bool { return true }, row: 0},
		"a namespace cannot be made":   {plans: 1, inject: func(Plan, int) bool { return true }, fail: broken, want: []int{1}, row: 1, err: broken},
	} {
		t.Run(name, func(t *testing.T) {
			plans := make([]Plan, tc.plans)
			if tc.plans == 2 {
				plans[1].Point.About = "late"
			}
			q, all := newQueue(plans, func(left int) int { return min(3, (left+7)/8) })
			q.again = func(of *tried) int {
				if slices.ContainsFunc(of.results, func(r *Result) bool { return r.Fired }) {
					return 0
				}
				return of.repeats()
			}
			var mu sync.Mutex
			longest, nth := 0, map[string]int{}
			err := q.drain(t.Context(), 3, func(_ context.Context, plans []Plan, row int) ([]*Result, error) {
				mu.Lock()
				defer mu.Unlock()
				longest = max(longest, row)
				out := make([]*Result, len(plans))
				for i, p := range plans {
					nth[p.Point.About]++
					out[i] = &Result{Plan: p, Fired: tc.inject(p, nth[p.Point.About])}
				}
				return out, tc.fail
			})
			if !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			var got []int
			made := 0
			for _, one := range all {
				got = append(got, len(one.results))
				made += len(one.results)
			}
			if done, of := q.progress(); done != made || of != made {
				t.Errorf("reports %d of %d runs, want %d", done, of, made)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			if longest != tc.row {
				t.Errorf("%d runs in a row, want %d", longest, tc.row)
			}
		})
	}
}
