package integration

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
)

// atOnce is how many plans run at the same time.
const atOnce = 6

// faultsAt returns the faults to inject at an effect: all of them if requested, otherwise the crashes and one of the others in
// turn.
func faultsAt(at int) []lab.Fault {
	crashes, troubles := append(lab.Crashes(), travelled), lab.Troubles()
	if os.Getenv("DETENT_PROOF") != "" {
		return slices.Concat(crashes, troubles)
	}
	return append(crashes, troubles[at%len(troubles)])
}

// travelled is a crash after an effect whose successor starts with stale caches, of the time before the first effect.
const travelled lab.Fault = "crash after, then a cache from before"

// crashesEverywhere counts the effects of a run in which an object at rest gets another target in each of its lifecycles, and
// then injects each fault at each of those effects.
func crashesEverywhere(ctx SpecContext, s Subject) {
	GinkgoHelper()
	world := s.World()
	counting := rested(ctx, s, world, 1)[0]
	effects, want := runPlan(counting, lab.Plan{})
	Expect(effects).NotTo(BeEmpty())
	var plans []lab.Plan
	for at := range effects {
		for _, fault := range faultsAt(at) {
			plans = append(plans, lab.Plan{At: at + 1, Fault: fault})
		}
	}
	stages := rested(ctx, s, world, len(plans))
	bad := make([]string, len(plans))
	var missed atomic.Int32
	var group sync.WaitGroup
	disruptionLocks := make(chan struct{}, atOnce)
	for i, plan := range plans {
		group.Go(func() {
			defer GinkgoRecover()
			disruptionLocks <- struct{}{}
			defer func() { <-disruptionLocks }()
			met, got := runPlan(stages[i], plan)
			if len(met) < plan.At {
				missed.Add(1)
			}
			if why := differs(want, got); why != "" {
				bad[i] = fmt.Sprintf("%s at %d (%s): %s", plan.Fault, plan.At, effects[plan.At-1], why)
			}
		})
	}
	group.Wait()
	Expect(bad).To(HaveEach(BeEmpty()))
	Expect(missed.Load()).To(BeNumerically("<=", len(plans)/10), "plans that was never injected")
	note("%s: %d faults at %d effects, all with the same end: %s", s.Name(), len(plans)-int(missed.Load()), len(effects), strings.Join(effects, ", "))
}

// onlyVisit names the only object of a plan.
var onlyVisit = Visit{Lifecycle: "only", State: "one"}

// rested creates namespaces with one object each, all at rest.
func rested(ctx context.Context, s Subject, world World, n int) []*scene {
	GinkgoHelper()
	stages := make([]*scene, n)
	names := make([]string, n)
	for i := range stages {
		stages[i] = sceneIn(ctx, s, world, []Visit{onlyVisit})
		stages[i].create()
		names[i] = stages[i].namespace
	}
	operator := startIn(ctx, world, nil, names...)
	for _, stage := range stages {
		stage.rest()
	}
	settle(names...)
	Expect(operator.Kill()).To(Succeed())
	return stages
}

// runPlan changes the target of every lifecycle while the plan injects its faults, and starts a new operator if the old one died.
func runPlan(sc *scene, plan lab.Plan) (effects []string, end outcome) {
	GinkgoHelper()
	sc.start(nil)
	first := sc.operator
	travels := plan.Fault == travelled
	if travels {
		plan.Fault = lab.CrashAfter
	}
	first.Arm(plan)
	_, before := sc.list()
	sc.edit(onlyVisit, func(o lifecycle.Object) {
		for _, l := range sortedKeys(sc.graphs) {
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
	if plan.At > 0 && plan.At <= len(effects) { // a run may show less on its way than the one that was counted
		Expect(first.Injected()).To(BeTrue(), "%+v was never injected; effects were %q", plan, effects)
	}
	if first.Dead() {
		sc.kill()
		succeed(sc, before, travels)
	}
	sc.rest()
	sc.settle()
	return effects, sc.outcome(sc.key(onlyVisit))
}

// succeed starts another operator. If it travels, its caches begin at an earlier revision, and until they have caught up it must
// do nothing.
func succeed(sc *scene, revision string, travels bool) {
	GinkgoHelper()
	if !travels {
		sc.start(nil)
		return
	}
	done := len(bench.Traffic.Of(sc.namespace, lab.Request.Writes))
	gate := lab.NewGate()
	gate.FreezeAt(revision, append(sc.subject.Children(), sc.world.Make("", ""))...)
	sc.start(gate)
	Consistently(func() []string { return doneSince(sc, done) }, lagFor, lagFor/5).Should(BeEmpty(), "written on a cache from before")
	gate.Thaw()
}
