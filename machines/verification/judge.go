package verification

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Names of the lifecycle and the object that all facts are evaluated for.
const (
	uid       = "verification"
	lifecycle = "lifecycle"
)

// start is the time at which every persisted state is evaluated. A machine's own times come from its facts.
func start() time.Time { return time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC) }

// bound is the machine bound to facts alone.
type bound[F, E any] = machines.Evaluator[struct{}, *F, E]

// judge evaluates every guard of every state on all facts of a domain.
func (v *verifier[F, D, E]) judge(d *domain.Domain[F, D]) {
	lc := machines.Bind(v.machine, machines.Binding[struct{}, *F, F, E, E]{
		Name: lifecycle, Facts: func(_ struct{}, facts *F, _ machines.ObserveOptions) F { return *facts },
	}).Evaluator(access.Key{})
	var needs []transitions.Need
	for _, n := range v.def.Needs {
		needs = append(needs, n.Name)
	}
	if v.yes == nil {
		v.yes, v.together = map[int]bool{}, map[[2]int]string{}
	}
	d.Each(func(facts *F, name func() string) {
		v.facts++
		w := &walk[F, D, E]{v: v, lc: lc, d: d, needs: needs, name: name, settled: map[string]bool{}}
		deleting := *w
		deleting.deleting, deleting.settled, deleting.target = true, map[string]bool{}, machines.DeletionTarget
		if err := safely(func() { w.target = v.def.Target(facts).To }); err != nil {
			v.findOnce(Gap, "target", fmt.Sprintf("it cannot be computed: %v: %s", err, name()), mendDefect)
			return
		}
		w.from(nil, facts)
		for i := range v.def.States {
			for _, data := range d.DataOf(v.def.States[i].Name) {
				if slices.Contains(v.onlyDeletion, v.def.States[i].Name) {
					deleting.evaluate(&v.def.States[i], data, facts)
					continue
				}
				w.evaluate(&v.def.States[i], data, facts)
				if !v.def.Deletion.IsZero() {
					deleting.from(w.entry(&v.def.States[i], data), facts)
				}
			}
		}
	})
}

const mendDefect = "every facts of the domain must be ones that a pass can have; else it is a defect of the machine, which would stand still"

// walk is the evaluation of one facts of a domain.
type walk[F, D, E any] struct {
	v      *verifier[F, D, E]
	lc     bound[F, E]
	d      *domain.Domain[F, D]
	needs  []transitions.Need
	name   func() string
	target string
	// deleting means that the object is being deleted.
	deleting bool
	// settled are the places from which the walk is known to end.
	settled map[string]bool
}

// evaluate evaluates one persisted state: its exits, and then where they lead.
func (w *walk[F, D, E]) evaluate(s *machines.State[F, D, E], data D, facts *F) {
	believed := true
	if err := safely(func() {
		believed = s.Invariant.IsZero() || s.Invariant.Verdict(facts, data).Answer != transitions.No
		if believed {
			w.exits(s, data, facts)
		}
	}); err != nil {
		w.v.findOnce(Gap, "state "+s.Name, fmt.Sprintf("its guards cannot be evaluated: %v: %s", err, w.name()), mendDefect)
		return
	}
	w.from(w.entry(s, data), facts)
}

// entry returns the entry of a lifecycle in the state.
func (w *walk[F, D, E]) entry(s *machines.State[F, D, E], data D) *lifecyclev1.Lifecycle {
	return &lifecyclev1.Lifecycle{
		Name: lifecycle, State: s.Name, EnteredAt: metav1.NewTime(start().Add(-time.Minute)), Data: w.v.def.Data.Encode(data),
		Attempt: &lifecyclev1.Attempt{
			ID: machines.AttemptID(uid, lifecycle, w.target, start().Add(-time.Hour)), To: w.target, StartedAt: metav1.NewTime(start().Add(-time.Hour)),
		},
	}
}

// exits evaluates the transitions out of a state.
func (w *walk[F, D, E]) exits(s *machines.State[F, D, E], data D, facts *F) {
	v := w.v
	indices := v.exits(s.Name)
	var yes []int
	quiet := true // nothing unknown, nothing awaited
	for _, i := range indices {
		t := &v.def.Transitions[i]
		v.results[Overlap].Looked++
		switch verdict := ask(t, facts, data); verdict.Answer {
		case transitions.Yes:
			yes = append(yes, i)
			v.yes[i] = true
			v.released(w.d, facts, w.name, t)
		case transitions.Unknown:
			quiet = false
		default:
			quiet = quiet && !t.Awaited
		}
	}
	for n, i := range yes {
		for _, j := range yes[n+1:] {
			if pair := [2]int{i, j}; v.together[pair] == "" {
				v.together[pair] = w.name()
			}
		}
	}
	if s.Kind == states.Rest || len(indices) == 0 {
		return
	}
	v.results[Gap].Looked++
	if len(yes) == 0 && quiet && !acts(s, facts, data) {
		v.findOnce(Gap, "state "+s.Name, "it stays without showing why: no transition says yes, none is unknown, and none that says no is awaited: "+w.name(),
			"declare the missing transition, or mark as Awaited the one that the state waits for")
	}
}

func ask[F, D any](t *machines.Transition[F, D], facts *F, data D) transitions.Verdict {
	if t.Choose == nil {
		return t.When.Verdict(facts, data)
	}
	verdict, _ := t.Choose.Pick(facts, data)
	return verdict
}

func acts[F, D, E any](s *machines.State[F, D, E], facts *F, data D) bool {
	return s.Action != nil && len(s.Action.Effects(facts, data)) > 0
}

// overlaps reports which transitions out of one state said yes together. The order of declaration decides; Outranks declares
// that this is intended.
func (v *verifier[F, D, E]) overlaps() {
	for i := range v.def.Transitions {
		for j := i + 1; j < len(v.def.Transitions); j++ {
			name := v.together[[2]int{i, j}]
			first, second := &v.def.Transitions[i], &v.def.Transitions[j]
			if name == "" || first.To == second.To {
				continue
			}
			where := fmt.Sprintf("state %s: %s and %s", first.From, first.Event, second.Event)
			a, b := v.states[first.To], v.states[second.To]
			what := fmt.Sprintf("both say yes, and %s wins by its order: %s", first.Event, name)
			if a.Kind == b.Kind || first.Outranks {
				v.note(Overlap, where, what)
				continue
			}
			v.find(Overlap, where, fmt.Sprintf("%s; one leads to a %s (%s), the other to a %s (%s)", what, a.Kind, a.Name, b.Kind, b.Name),
				"let one guard exclude the other, or mark "+first.Event+" with Outranks if it is meant to win")
		}
	}
}

// safely calls run and returns a panic as an error.
func safely(run func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	run()
	return nil
}
