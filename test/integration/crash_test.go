package integration

import (
	"context"
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
)

// atOnce is how many plans run at the same time.
const atOnce = 6

// crashesEverywhere counts the effects of a run that wants another target, then lets each fault strike at each of them.
func crashesEverywhere(ctx SpecContext, s Subject) {
	GinkgoHelper()
	effects, want := runPlan(ctx, s, lab.Plan{})
	Expect(effects).NotTo(BeEmpty())
	var plans []lab.Plan
	for at := range effects {
		for _, fault := range lab.Faults() {
			plans = append(plans, lab.Plan{At: at + 1, Fault: fault})
		}
	}
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		bad   []string
		slots = make(chan struct{}, atOnce)
	)
	for _, plan := range plans {
		group.Go(func() {
			defer GinkgoRecover()
			slots <- struct{}{}
			defer func() { <-slots }()
			_, got := runPlan(ctx, s, plan)
			if why := differs(want, got); why != "" {
				mu.Lock()
				defer mu.Unlock()
				bad = append(bad, fmt.Sprintf("%s at %d (%s): %s", plan.Fault, plan.At, effects[plan.At-1], why))
			}
		})
	}
	group.Wait()
	Expect(bad).To(BeEmpty())
	laws.note("%s: %d faults at %d effects, all with the same end: %q", s.Name(), len(plans), len(effects), effects)
}

// runPlan brings one object to rest, wants something else of every lifecycle, lets the plan strike on the way, and goes on
// with a new operator if the old one died.
func runPlan(ctx context.Context, s Subject, plan lab.Plan) (effects []string, end outcome) {
	GinkgoHelper()
	one := Visit{Lifecycle: "only", State: "one"}
	sc := newScene(ctx, s, []Visit{one})
	sc.start(nil)
	sc.make()
	sc.settle()
	first := sc.operator
	first.Arm(plan)
	sc.edit(one, func(o lifecycle.Object) {
		for _, l := range sortedKeys(s.Graphs()) {
			sc.world.Another(l, o)
		}
	})
	Eventually(func() []string {
		if first.Dead() {
			return nil
		}
		return sc.unrested()
	}).Should(BeEmpty(), "%s at %d", plan.Fault, plan.At)
	effects = first.Effects()
	if plan.At > 0 {
		Expect(first.Struck()).To(BeTrue(), "%+v never struck; effects were %q", plan, effects)
	}
	if first.Dead() {
		sc.kill()
		sc.start(nil)
	}
	sc.rest()
	sc.settle()
	return effects, sc.outcome(sc.key(one))
}
