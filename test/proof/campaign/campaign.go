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
	Arena   *Arena
	Subject *Subject
	// AtOnce is how many runs share the machine. They mostly wait. Default 20.
	AtOnce int
	// Log tells how it goes. Optional.
	Log func(format string, args ...any)

	// references by change.
	references []*reference
	// effects and events that are met in every change.
	effects, events []lab.Point
}

// batch is how many namespaces one operator prepares.
const batch = 4

// repeats are how many copies of a plan that did not strike are run at once, and once more: what it strikes at does not happen in
// every run.
var repeats = [...]int{4, 8}

// Refer makes the runs without a fault that all others are compared with: so many of each change.
func (c *Campaign) Refer(ctx context.Context, n int) error {
	all := len(c.Subject.Changes)
	results, err := c.all(ctx, make([]Plan, n*all), func(int) int { return all })
	if err != nil {
		return err
	}
	byChange := make([][]*Result, len(c.Subject.Changes))
	for _, r := range results {
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

// Singles are all plans of one fault on this subject.
func (c *Campaign) Singles(depths func(at int) []Depth) []Plan {
	var meddling []string
	for name := range c.Subject.Meddling {
		meddling = append(meddling, name)
	}
	slices.Sort(meddling)
	return Single(c.effects, c.events, depths, meddling)
}

// Doubles are all ordered pairs of faults on this subject.
func (c *Campaign) Doubles() []Plan { return Double(c.effects, c.events) }

// Run the plans, those that did not fire again, and report.
func (c *Campaign) Run(ctx context.Context, plans []Plan) (*Report, error) {
	report := &Report{Subject: c.Subject.Name, begun: time.Now()}
	spent, err := c.Arena.spent()
	if err != nil {
		return nil, err
	}
	left, err := c.once(ctx, plans, 1, report)
	for _, copies := range repeats {
		if err != nil {
			return nil, err
		}
		plans = nil
		for _, r := range left {
			plans = append(plans, r.Plan)
		}
		report.Repeated += len(plans)
		left, err = c.once(ctx, plans, copies, report)
	}
	for _, r := range left {
		report.add(r, nil)
	}
	report.Took = time.Since(report.begun)
	now, failed := c.Arena.spent()
	report.Spent = now - spent
	return report, errors.Join(err, failed)
}

// once runs so many copies of each plan and reports on what struck or went wrong. What is left has done neither.
func (c *Campaign) once(ctx context.Context, plans []Plan, copies int, report *Report) (left []*Result, err error) {
	runs := make([]Plan, 0, copies*len(plans))
	for _, p := range plans {
		runs = append(runs, slices.Repeat([]Plan{p}, copies)...)
	}
	results, err := c.all(ctx, runs, c.inARow)
	if err != nil {
		return nil, err
	}
	for i, p := range plans {
		r, why := c.telling(results[i*copies : (i+1)*copies])
		switch {
		case r == nil:
			left = append(left, &Result{Plan: p})
		case len(why) == 0 && !r.Fired && r.mustStrike():
			left = append(left, r)
		default:
			report.add(r, why)
		}
	}
	return left, nil
}

// inARow is how many runs follow one another in a namespace while so many are left: fewer towards the end, so that all namespaces
// are done at about the same time.
func (c *Campaign) inARow(left int) int {
	return min(len(c.Subject.Changes), (left+c.atOnce()-1)/c.atOnce())
}

// telling is the run that says most of a plan, and what it says: one that went wrong, or else one that struck. There is none if
// something went wrong before it in every namespace.
func (c *Campaign) telling(runs []*Result) (best *Result, why []string) {
	for _, r := range runs {
		if r == nil {
			continue
		}
		if why := c.differs(r); len(why) > 0 {
			return r, why
		}
		if best == nil || !best.Fired {
			best = r
		}
	}
	return best, nil
}

// wrong says what is known to be wrong with a run, before there is a reference as well.
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

// all runs each plan once, many at a time, and so many one after the other in each namespace as inARow says of what is left. A run
// has no result if one before it in its namespace went wrong.
func (c *Campaign) all(ctx context.Context, plans []Plan, inARow func(left int) int) ([]*Result, error) {
	results := make([]*Result, len(plans))
	var mu sync.Mutex
	var failed error
	next := 0
	take := func() (from, to, row int) {
		mu.Lock()
		defer mu.Unlock()
		if failed != nil || next == len(plans) {
			return len(plans), len(plans), 0
		}
		from, row = next, inARow(len(plans)-next)
		next = min(next+batch*row, len(plans))
		return from, next, row
	}
	var group sync.WaitGroup
	for range max(1, c.atOnce()/batch) {
		group.Go(func() {
			for from, to, row := take(); from < to; from, to, row = take() {
				if err := c.some(ctx, plans[from:to], results[from:to], row); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
				c.say("%s: %d of %d runs", c.Subject.Name, to, len(plans))
			}
		})
	}
	group.Wait()
	return results, failed
}

// some runs share the operator that prepares their namespaces, each of which takes so many in a row.
func (c *Campaign) some(ctx context.Context, plans []Plan, results []*Result, inARow int) error {
	stages, err := c.Arena.stages(ctx, c.Subject, (len(plans)+inARow-1)/inARow)
	if err != nil {
		return err
	}
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
	return errors.Join(errs...)
}
