package explore

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
)

// watched is a lifecycle whose decisions are checked.
type watched[O, S, E any] struct {
	machines.Evaluator[O, S, E]
	passed func() *passed
}

func (l watched[O, S, E]) Instance(name string) machines.Evaluator[O, S, E] {
	return watched[O, S, E]{Evaluator: l.Evaluator.Instance(name), passed: l.passed}
}

func (l watched[O, S, E]) Evaluate(q machines.EvaluationInput[O, S]) machines.Evaluation[E] {
	return watchedLook[E]{Evaluation: l.Evaluator.Evaluate(q), name: l.Name(), passed: l.passed()}
}

type watchedLook[E any] struct {
	machines.Evaluation[E]
	name   string
	passed *passed
}

func (l watchedLook[E]) Decide() machines.Decision {
	d := l.Evaluation.Decide()
	if d.Move != nil {
		l.passed.wanted = append(l.passed.wanted, l.name)
		l.passed.rivals(l.name, d.Move, l.Open())
	}
	if d.Err != nil {
		l.passed.wrong("lifecycle %s is defective: %v", l.name, d.Err)
	}
	if d.Shadowed != "" {
		l.passed.wrong("lifecycle %s: Invariant says no where the exit %s says yes, so that it is never taken", l.name, d.Shadowed)
	}
	return d
}

func (l watchedLook[E]) Act() machines.ActionResult[E] {
	a := l.Evaluation.Act()
	if a.Err != nil {
		l.passed.wrong("the action of lifecycle %s is defective: %v", l.name, a.Err)
	}
	return a
}

func (p *passed) wrong(format string, args ...any) {
	p.violations = append(p.violations, fmt.Sprintf(format, args...))
}

// permitted checks an effect: the persisted state it is based on must be the newest that an operator stored, and a disruption
// must be based on the newest object.
func (w *worker[O, S, E]) permitted(request *lifecycle.EffectRequest[O, S, E]) {
	if w.calls.dead {
		return
	}
	s := w.scenario.state
	live := w.main(s.live)
	if live == nil {
		return
	}
	name := described(request.Effect)
	based := revisionOf(request.Object)
	if based < s.own {
		// A write of another operator is only known to actions that read the API server: those that disrupt, or that cannot be
		// undone. Any other effect may be repeated, because it is idempotent.
		if s.ownTerm == w.scenario.term || w.asksLive(request.RequestID.Lifecycle, request.RequestID.State) {
			w.passed.wrong("%s does %s on a persisted state that is not the newest", request.RequestID.Lifecycle, name)
		}
		return
	}
	if based == live.Revision {
		st, known := w.graphState(live.Object, request.RequestID.Lifecycle)
		switch {
		case !known || st.Name != request.RequestID.State:
			w.passed.wrong("%s does %s for state %s, which is not stored", request.RequestID.Lifecycle, name, request.RequestID.State)
		case st.Kind != string(states.Work):
			w.passed.wrong("%s does %s although %s is stored, which has no action", request.RequestID.Lifecycle, name, st.Name)
		}
	}
	if w.kind.Disrupts == nil {
		return
	}
	if target, disrupts := w.kind.Disrupts(request.Effect); disrupts && based != live.Revision {
		w.passed.wrong("%s disrupts %s on an object that is not the newest", request.RequestID.Lifecycle, target)
	}
}

// asksLive reports whether the action of the state reads the API server before it executes an effect.
func (w *worker[O, S, E]) asksLive(lifecycle, state string) bool {
	lc := pass.Find(w.lifecycles, lifecycle)
	if lc == nil {
		return false
	}
	action, _ := lc.Action(state)
	return action.Live
}

// Rivals are two edges whose guards said yes at once: the one that is declared first was taken.
type Rivals struct{ Lifecycle, State, Taken, Left string }

// rivals records the other transitions that could have been taken.
func (p *passed) rivals(lifecycle string, move *machines.Move, open []string) {
	for i, event := range open {
		if i > 0 && open[0] == move.Event {
			p.met = append(p.met, Rivals{lifecycle, move.From, move.Event, event})
		}
	}
}

func entryOf(object client.Object, lifecycle string) *lifecyclev1.Lifecycle {
	from, ok := object.(lifecycled)
	if !ok {
		return nil
	}
	status := from.LifecycleStatus()
	for i := range status.Lifecycles {
		if status.Lifecycles[i].Name == lifecycle {
			return &status.Lifecycles[i]
		}
	}
	return nil
}

// stored checks a status that the operator wrote: which transitions it contains, and whether it claims too much.
func (w *worker[O, S, E]) stored(before, after client.Object) {
	next, ok := after.(lifecycled)
	if !ok {
		return
	}
	status := next.LifecycleStatus()
	for i := range status.Lifecycles {
		e := &status.Lifecycles[i]
		if len(e.History) == 0 {
			continue
		}
		last := e.History[len(e.History)-1]
		old := entryOf(before, e.Name)
		if old != nil && old.State == e.State && old.EnteredAt.Equal(&e.EnteredAt) && old.Transitions == e.Transitions {
			continue
		}
		w.passed.edges = append(w.passed.edges, edge{e.Name, last.Event, last.From, last.To})
	}
	if meta.IsStatusConditionTrue(status.Conditions, lifecycle.Ready) {
		w.ready(after)
	}
	if w.describes {
		w.words(status.Conditions)
	}
}

// ready checks an object that is Ready.
func (w *worker[O, S, E]) ready(object client.Object) {
	for _, lc := range w.instances(object) {
		st, known := w.graphState(object, lc.Name())
		switch {
		case !known:
			w.passed.wrong("the object shows as ready although lifecycle %s has no known state", lc.Name())
		case !atRest(st) && !atHold(st), atHold(st) && st.HoldReason == string(states.Refusal):
			w.passed.wrong("the object shows as ready although lifecycle %s is in %s", lc.Name(), st.Name)
		}
	}
}

func (w *worker[O, S, E]) words(conditions []metav1.Condition) {
	for _, e := range w.passed.edges {
		w.passed.said = append(w.passed.said, fmt.Sprintf("%s: %s -> %s (%s)", e.lifecycle, e.from, e.to, e.event))
	}
	if c := meta.FindStatusCondition(conditions, lifecycle.Ready); c != nil {
		w.passed.said = append(w.passed.said, "Ready="+string(c.Status))
	}
}
