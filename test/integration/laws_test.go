package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/google/go-cmp/cmp"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/test/lab"
)

const (
	// quietFor is how long nothing must be written until a scene counts as settled.
	quietFor = 300 * time.Millisecond
	// silentFor is how long a law watches for a write: several polls.
	silentFor = 1000 * time.Millisecond
	// projectionsWritten is how long nothing must be written until no status write is held back: the runtime leaves 10 seconds
	// between two writes that change only what a user reads.
	projectionsWritten = 11 * time.Second
	// windows is in how many times projectionsWritten an object has to be silent once.
	windows = 6
	// many is the number of objects that must all come to rest.
	many = 50
)

// references are the runs without a fault, by subject. Every other run must end in the same way.
var references = map[string]map[Visit]outcome{}

// longest is the priority of specs that take longer than the laws of most subjects. Specs with a higher priority begin earlier, so that
// the processes of the suite end at about the same time.
func longest() int { return len(subjects()) }

// keepTheLaws declares the laws of each subject. Those of one subject run one after the other in one process.
func keepTheLaws() bool {
	for i, subject := range subjects() {
		Describe("a machine", SpecPriority(longest()-i), func() {
			Context(subject.Name(), Ordered, ContinueOnFailure, func() {
				keepsTheLaws(subject)
				repeatsNothing(subject)
				if reservation(subject, lawCrash) == "" {
					It("comes to the same end after a fault at any effect", func(ctx SpecContext) { crashesEverywhere(ctx, subject) }, NodeTimeout(2*timeLimit))
				}
			})
		})
	}
	return true
}

var _ = keepTheLaws()

// reservation is why a law is not tested on a subject, "" if it is.
func reservation(s Subject, law string) string {
	if with, ok := s.(Reserved); ok {
		return with.Reservations()[law]
	}
	return ""
}

// matters reports whether a law is tested in a state.
func matters(s Subject, law, state string) bool {
	with, ok := s.(Selective)
	return !ok || with.Matters(law, state)
}

// visitsFor are the visits in which a law is tested.
func visitsFor(s Subject, law string) []Visit {
	return slices.DeleteFunc(s.Visits(), func(v Visit) bool { return !matters(s, law, v.State) })
}

func keepsTheLaws(s Subject) {
	var sc *scene
	show := func(law, text string, body func(SpecContext)) {
		if reservation(s, law) == "" {
			It(text, body)
		}
	}
	stage := func(ctx SpecContext, law string) {
		GinkgoHelper()
		sc = newScene(ctx, s, visitsFor(s, law))
		sc.start(nil)
		sc.make()
		sc.visit()
	}
	show(lawRest, "comes to rest wherever it was hindered", func(ctx SpecContext) {
		stage(ctx, lawRest)
		sc.release()
		sc.settle()
		references[s.Name()] = sc.outcomes()
		sc.each(lawRest, func(v Visit) string { return sc.restless(sc.object(sc.name(v))) })
	})
	show(lawMany, "writes once per transition, and is always requeued", func(ctx SpecContext) { manyComeToRest(ctx, s) })
	show(lawSilence, "writes nothing while nothing changes", func(ctx SpecContext) {
		stage(ctx, lawSilence)
		loud := loudest(sc)
		Expect(loud[""]).To(BeEmpty(), "writes of no object of the scene")
		sc.each(lawSilence, func(v Visit) string { return strings.Join(loud[sc.name(v)], ", ") })
	})
	show(lawTarget, "acts upon another target in every state", func(ctx SpecContext) {
		stage(ctx, lawTarget)
		actsUponAnotherTarget(sc)
	})
	show(lawPause, "is paused and resumed in every state", func(ctx SpecContext) {
		stage(ctx, lawPause)
		isPausedAndResumed(sc)
	})
	show(lawKill, "survives a kill in every state", func(ctx SpecContext) {
		stage(ctx, lawKill)
		sc.kill()
		sc.start(nil)
		sc.release()
		sc.settle()
		sc.same(lawKill)
	})
	show(lawWipe, "survives a wiped status in every state, all at once", func(ctx SpecContext) {
		stage(ctx, lawWipe)
		for _, v := range sc.visits {
			sc.tamper(v, func(status *lifecyclev1.Status) { *status = lifecyclev1.Status{} })
			if w, ok := sc.world.(Cleaner); ok {
				w.Cleanup(sc.key(v))
			}
		}
		sc.release()
		sc.settle()
		sc.same(lawWipe)
	})
	show(lawDeletion, "is deleted from every state, and leaves nothing behind", func(ctx SpecContext) {
		stage(ctx, lawDeletion)
		isDeletedFromEveryState(sc)
	})
	show(lawUnknown, "infers and reports an unknown state", func(ctx SpecContext) {
		stage(ctx, lawUnknown)
		reportsUnknownStates(sc)
	})
	show(lawData, "infers its state when its data cannot be read", func(ctx SpecContext) {
		stage(ctx, lawData)
		for _, v := range sc.visits {
			sc.tamper(v, damage(v, func(e *lifecyclev1.Lifecycle) { e.Data = map[string]string{"nonsense": "\u0000"} }))
		}
		sc.release()
		sc.settle()
		sc.same(lawData)
	})
}

// strangers are writes that belong to no visit.
func strangers(sc *scene, all []lab.Request) []string {
	var out []string
	for _, r := range all {
		if !slices.ContainsFunc(sc.visits, func(v Visit) bool { return len(writesOf([]lab.Request{r}, sc.name(v))) > 0 }) {
			out = append(out, r.String())
		}
	}
	return out
}

// loudest returns the last writes of each object that never wrote nothing for projectionsWritten, by its name, and those of no object of the
// scene under no name. The time that passes is a change, too: a deadline or the limit of a call is shown when it has passed, and what is held
// back is written then. Objects have that at different times.
func loudest(sc *scene) map[string][]string {
	GinkgoHelper()
	loud := map[string][]string{"": {"not watched yet"}}
	for _, v := range sc.visits {
		loud[sc.name(v)] = loud[""]
	}
	written := func() []lab.Request { return bench.Traffic.Of(sc.namespace, lab.Request.Writes) }
	for window := 0; window < windows && len(loud) > 0; window++ {
		before := len(written())
		Consistently(func() int { return len(written()) }, projectionsWritten, silentFor).Should(BeNumerically(">=", before))
		after := written()[before:]
		for name := range loud {
			if loud[name] = writesOf(after, name); name == "" {
				loud[name] = strangers(sc, after)
			}
			if len(loud[name]) == 0 {
				delete(loud, name)
			}
		}
	}
	return loud
}

// writesOf returns the writes of the object and of objects named after it.
func writesOf(all []lab.Request, name string) []string {
	var out []string
	for _, r := range all {
		if r.Name == name || strings.HasPrefix(r.Name, name+"-") || strings.HasPrefix(r.Name, name+".") {
			out = append(out, r.String())
		}
	}
	return out
}

func damage(v Visit, do func(*lifecyclev1.Lifecycle)) func(*lifecyclev1.Status) {
	return func(status *lifecyclev1.Status) {
		for i := range status.Lifecycles {
			if of, _ := machines.SplitEntryName(status.Lifecycles[i].Name); of == v.Lifecycle {
				do(&status.Lifecycles[i])
			}
		}
	}
}

func manyComeToRest(ctx SpecContext, s Subject) {
	GinkgoHelper()
	visits := make([]Visit, many)
	for i := range visits {
		visits[i] = Visit{Lifecycle: "many", State: fmt.Sprint(i)}
	}
	sc := newScene(ctx, s, visits)
	sc.start(nil)
	sc.make()
	sc.settle()
	edges, writes := 0, 0
	for name, object := range sc.all() {
		taken := edgesOf(object) - (len(object.LifecycleStatus().Lifecycles) - 1) // the first entries of all lifecycles share one write
		done := len(bench.Traffic.Of(sc.namespace, lab.OnStatus(name), lab.Request.Done))
		if taken != done {
			Fail(fmt.Sprintf("%s: %d status writes for %d transitions", name, done, taken))
		}
		edges, writes = edges+taken, writes+done
	}
	note("%s: %d objects came to rest; %d transitions in %d status writes", s.Name(), many, edges, writes)
}

// edgesOf counts the transitions in the histories, with loops expanded.
func edgesOf(object lifecycle.Object) int {
	n := 0
	for _, l := range object.LifecycleStatus().Lifecycles {
		for _, h := range l.History {
			n += int(max(h.Times, 1))
		}
	}
	return n
}

// actsUponAnotherTarget checks the first status write after the spec changed: it must show that the change was processed.
func actsUponAnotherTarget(sc *scene) {
	GinkgoHelper()
	targets, before := map[Visit]string{}, sc.all()
	for _, v := range sc.visits {
		sc.edit(v, func(o lifecycle.Object) { targets[v] = sc.world.Another(v.Lifecycle, o) })
	}
	verdict := func(v Visit, o lifecycle.Object) string {
		entry := entryOf(o, v.Lifecycle)
		switch {
		case v.Blind:
			return ""
		case targets[v] != "" && entry.Attempt != nil && entry.Attempt.To == targets[v]:
			return ""
		case targets[v] == "" && targetOf(entry) != targetOf(entryOf(before[sc.name(v)], v.Lifecycle)): // its target cannot be predicted
			return ""
		case o.LifecycleStatus().ObservedGeneration == o.GetGeneration(): // it stays, knowingly
			return ""
		}
		return fmt.Sprintf("in %s after %+v, observed %d of %d", entry.State, entry.Attempt, o.LifecycleStatus().ObservedGeneration, o.GetGeneration())
	}
	Eventually(func() string {
		var late []string
		all := sc.all()
		for _, v := range sc.visits {
			if why := verdict(v, all[sc.name(v)]); why != "" {
				late = append(late, v.String()+": "+why)
			}
		}
		return strings.Join(late, "\n")
	}).Should(BeEmpty())
	sc.release()
	sc.each(lawTarget, func(v Visit) string {
		o := sc.object(sc.name(v))
		if got := entryOf(o, v.Lifecycle).Attempt; targets[v] != "" && (got == nil || got.To != targets[v]) {
			return fmt.Sprintf("came to rest after %+v, want %s", got, targets[v])
		}
		return verdict(v, o)
	})
}

// targetOf is the target of an attempt, "" if there is none.
func targetOf(entry lifecyclev1.Lifecycle) string {
	if entry.Attempt == nil {
		return ""
	}
	return entry.Attempt.To
}

func isPausedAndResumed(sc *scene) {
	GinkgoHelper()
	all := watched(sc)
	pauses := append([]string{lifecycle.PauseAnnotation}, sc.subject.PauseAnnotations()...)
	for i, v := range sc.visits {
		sc.edit(v, func(o lifecycle.Object) {
			annotations := maps.Clone(o.GetAnnotations())
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[pauses[i%len(pauses)]] = "true"
			o.SetAnnotations(annotations)
		})
	}
	Eventually(func() int {
		n := 0
		for _, o := range sc.all() {
			if pausedIn(o) {
				n++
			}
		}
		return n
	}).WithPolling(readInterval).Should(Equal(len(sc.visits)))
	sc.settle()
	during := sc.all()
	for _, v := range sc.visits {
		sc.edit(v, func(o lifecycle.Object) {
			annotations := maps.Clone(o.GetAnnotations())
			maps.DeleteFunc(annotations, func(name, _ string) bool { return slices.Contains(pauses, name) })
			o.SetAnnotations(annotations)
		})
	}
	sc.release()
	sc.settle()
	after := sc.outcomes()
	sc.each(lawPause, func(v Visit) string {
		if why := onlyPaused(all.until(during[sc.name(v)])); why != "" {
			return why
		}
		if conditionOf(sc.object(sc.name(v)), lifecycle.Paused).Type != "" {
			return "still shows the pause"
		}
		return differs(references[sc.subject.Name()][v], after[v])
	})
}

func pausedIn(o lifecycle.Object) bool {
	return conditionOf(o, lifecycle.Paused).Status == metav1.ConditionTrue
}

// onlyPaused returns what a pause changed in addition to one condition. The version in the middle is the last one of the
// pause.
func onlyPaused(versions []lifecycle.Object) string {
	first := slices.IndexFunc(versions, pausedIn)
	if first < 1 {
		return fmt.Sprintf("shows the pause at version %d of %d", first, len(versions))
	}
	if later := len(versions) - 1 - first; later > 0 {
		return fmt.Sprintf("%d writes while it was paused", later)
	}
	old, now := versions[first-1].LifecycleStatus().DeepCopy(), versions[first].LifecycleStatus().DeepCopy()
	now.Conditions = slices.DeleteFunc(now.Conditions, func(c metav1.Condition) bool { return c.Type == lifecycle.Paused })
	if diff := cmp.Diff(old, now); diff != "" {
		return "status changed:\n" + diff
	}
	return ""
}

func reportsUnknownStates(sc *scene) {
	GinkgoHelper()
	const nowhere = "ninth-heaven"
	for _, v := range sc.visits {
		sc.tamper(v, damage(v, func(e *lifecyclev1.Lifecycle) { e.State = nowhere }))
	}
	Eventually(func() []string {
		var lost []string
		for name, o := range sc.all() {
			for _, l := range o.LifecycleStatus().Lifecycles {
				if l.State == nowhere {
					lost = append(lost, name)
				}
			}
		}
		return lost
	}).WithPolling(readInterval).Should(BeEmpty())
	sc.release()
	sc.settle()
	var events eventsv1.EventList
	reported := func(name string) bool {
		return slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool {
			return e.Regarding.Name == name && strings.Contains(e.Note, "from "+nowhere)
		})
	}
	Eventually(func() []string {
		var silent []string
		Expect(admin.List(sc, &events, client.InNamespace(sc.namespace))).To(Succeed())
		for _, v := range sc.visits {
			if !reported(sc.name(v)) {
				silent = append(silent, v.String())
			}
		}
		return silent
	}).WithPolling(readInterval).Should(BeEmpty())
	after := sc.outcomes()
	sc.each(lawUnknown, func(v Visit) string {
		entry := entryOf(sc.object(sc.name(v)), v.Lifecycle)
		recorded := slices.ContainsFunc(entry.History, func(h lifecyclev1.Transition) bool { return h.From == nowhere })
		if !recorded {
			return "its history does not contain it"
		}
		if kind := sc.kindOf(v.Lifecycle, entry.State); kind != string(states.Rest) {
			return "rests in " + entry.State
		}
		return differs(references[sc.subject.Name()][v], after[v])
	})
}
