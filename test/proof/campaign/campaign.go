package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/detent-dev/detent/test/lab"
)

// Campaign runs plans on one subject.
type Campaign struct {
	Environment *Environment
	Subject     *Subject
	// AtOnce is the number of concurrent runs. They mostly wait. Optional; default: 20.
	AtOnce int
	// Log reports the progress. Optional; default: none.
	Log func(format string, args ...any)

	// references by change.
	references []*reference
	// effects and events that occur in every change.
	effects, events []lab.Point
}

// batch is the number of namespaces that one operator prepares.
const batch = 4

// Refer makes n runs of each change without a fault. All other runs are compared with them.
func (c *Campaign) Refer(ctx context.Context, n int) error {
	changes := len(c.Subject.Changes)
	q, all := newQueue(make([]Plan, n*changes), func(int) int { return changes })
	if err := q.drain(ctx, c.makers(), c.some); err != nil {
		return err
	}
	byChange := make([][]*Result, changes)
	for _, t := range all {
		r := t.results[0]
		if r == nil {
			continue
		}
		if r.Lost != "" {
			return fmt.Errorf("%s: a run without a fault came to no rest: %s", c.Subject.Name, r.Lost)
		}
		byChange[r.hop] = append(byChange[r.hop], r)
	}
	for change, runs := range byChange {
		reference, err := referenceOf(runs)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Subject.Name, err)
		}
		c.references = append(c.references, reference)
		if change == 0 {
			c.effects, c.events = reference.effects, reference.events
		}
		c.effects, c.events = inBoth(c.effects, reference.effects), inBoth(c.events, reference.events)
		c.say("%s: change %d: %d effects, %d events, %d passes, %s without a fault",
			c.Subject.Name, change, len(reference.effects), len(reference.events), reference.passes, runs[0].Took.Round(time.Millisecond))
	}
	return nil
}

func (c *Campaign) say(format string, args ...any) {
	if c.Log != nil {
		c.Log(format, args...)
	}
}

// Singles returns all plans with one fault on this subject.
func (c *Campaign) Singles(depths func(at int) []Depth) []Plan {
	var meddling []string
	for name := range c.Subject.Meddling {
		meddling = append(meddling, name)
	}
	slices.Sort(meddling)
	return Single(c.effects, c.events, depths, meddling, c.Subject.Outages)
}

// Doubles returns all ordered pairs of faults on this subject.
func (c *Campaign) Doubles() []Plan { return Double(c.effects, c.events) }

// Run makes the runs of the plans, repeats those whose fault was not injected, and returns the report.
func (c *Campaign) Run(ctx context.Context, plans []Plan) (*Report, error) {
	report := &Report{Subject: c.Subject.Name, begun: time.Now()}
	spent, err := c.Environment.spent()
	if err != nil {
		return nil, err
	}
	q, all := newQueue(plans, c.inARow)
	q.again = func(of *tried) int {
		runs := c.again(of)
		report.Repeated += min(runs, 1)
		return runs
	}
	err = q.drain(ctx, c.makers(), func(ctx context.Context, plans []Plan, row int) ([]*Result, error) {
		done, of := q.progress()
		c.say("%s: %d of %d runs made, begins %d more", c.Subject.Name, done, of, len(plans))
		return c.some(ctx, plans, row)
	})
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		report.add(c.significant(t))
	}
	report.Took = time.Since(report.begun)
	now, failed := c.Environment.spent()
	report.Spent = now - spent
	return report, errors.Join(err, failed)
}

// again returns the number of further runs of a plan: none if its fault was injected or a run failed.
func (c *Campaign) again(of *tried) int {
	r, why := c.significant(of)
	if len(why) > 0 || r.Fired || !r.mustInject() && r.Took > 0 {
		return 0
	}
	return of.repeats()
}

// inARow returns the number of consecutive runs in a namespace for the number of runs that are left. It decreases towards the
// end, so that all namespaces finish at about the same time.
func (c *Campaign) inARow(left int) int {
	return min(len(c.Subject.Changes), (left+c.atOnce()-1)/c.atOnce())
}

// significant returns the most significant run of a plan and its failures: a run that failed, or else one whose fault was injected.
// Without any run it returns the plan alone.
func (c *Campaign) significant(t *tried) (best *Result, why []string) {
	best = &Result{Plan: t.plan}
	for _, r := range t.results {
		if r == nil {
			continue
		}
		if why := c.differs(r); len(why) > 0 {
			return r, why
		}
		if !best.Fired {
			best = r
		}
	}
	return best, nil
}

// wrong returns the failures of a run, also while there is no reference yet.
func (c *Campaign) wrong(r *Result) []string {
	switch {
	case c.references != nil:
		return c.differs(r)
	case r.Lost != "":
		return []string{r.Lost}
	}
	return nil
}

func (c *Campaign) differs(r *Result) []string { return c.references[r.hop].differs(r) }

func (c *Campaign) atOnce() int { return cmp.Or(c.AtOnce, 20) }

// makers returns the number of goroutines that make runs, each of a batch of namespaces.
func (c *Campaign) makers() int { return max(1, c.atOnce()/batch) }

// some makes runs that share the operator which prepares their namespaces, with the given number of consecutive runs in each. A
// run has no result if an earlier one in its namespace failed.
func (c *Campaign) some(ctx context.Context, plans []Plan, inARow int) ([]*Result, error) {
	stages, err := c.Environment.stages(ctx, c.Subject, (len(plans)+inARow-1)/inARow)
	if err != nil {
		return make([]*Result, len(plans)), err
	}
	results := make([]*Result, len(plans))
	errs := make([]error, len(stages))
	var group sync.WaitGroup
	for i, s := range stages {
		group.Go(func() {
			for at := i * inARow; at < min((i+1)*inARow, len(plans)); at++ {
				results[at] = s.run(ctx, plans[at])
				if why := c.wrong(results[at]); len(why) > 0 {
					c.say("%s, change %d: %s\n    %s", c.Subject.Name, results[at].hop, plans[at], shorten(why))
					break
				}
			}
			errs[i] = s.close(ctx)
		})
	}
	group.Wait()
	return results, errors.Join(errs...)
}
