// Package pass implements one reconcile as a function of plain values: from an object and an observed snapshot to the
// transitions to commit, the effects to execute and the entries to show. It uses no client, codec, clock or goroutine,
// so that the runtime, the plan and the exploration run the same code.
package pass

import (
	"fmt"
	"slices"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// In is the input of one reconcile.
type In[O, S, E any] struct {
	Object O
	// Lifecycles of the kind. One with several instances is expanded by Decide.
	Lifecycles []machines.Evaluator[O, S, E]
	// Status of the object. It is never modified.
	Status     *lifecyclev1.Status
	UID        string
	Generation int64
	// Deleting means that the object is being deleted and has the runtime's finalizer.
	Deleting bool
	Now      time.Time
	// DeadlineScale is a factor for declared deadlines; 0 means 1.
	DeadlineScale float64
	// AlwaysNeeded are expensive facts that are always observed because the kind shows them in its status, or finds instances by them.
	AlwaysNeeded []transitions.Need
	// Observe observes the actual state. Decide calls it once, again if a persisted state contradicts the observation and must be
	// inferred, and again if an entered state waits for further facts. Act calls it once, and again for the facts that the
	// state of a failed precondition waits for.
	Observe func(needs []transitions.Need, live bool) (S, error)
	// Last is the lifecycle that made the last transition. The others take precedence in this reconcile.
	Last string
	// Slowed reports whether a lifecycle may not make a transition yet, because it makes transitions too often or without progress.
	// begins is true if the transition starts an attempt. Optional; default: never slowed.
	Slowed func(lifecycle string, begins bool) bool

	// entries of Status.
	entries Entries
}

// LifecycleResult is the evaluation of one lifecycle in a reconcile.
type LifecycleResult[E any] struct {
	Name       string
	Entry      *lifecyclev1.Lifecycle
	State      states.State
	Decision   machines.Decision
	evaluation machines.Evaluation[E]
	// Deleting means that the object is being deleted, or that the instance is not declared any more.
	Deleting bool
	// Unlisted is why it is not known which instances of the lifecycle there are, in words for users; empty otherwise.
	Unlisted string
	// settles is true if the transition of this reconcile enters a state in which the lifecycle stays with the same facts.
	settles bool
}

// Moved is a transition to commit.
type Moved struct {
	Lifecycle string
	Move      machines.Move
	Entry     lifecyclev1.Lifecycle
	// Deleting means that the object is being deleted, or that the instance is not declared any more.
	Deleting bool
	// Facts on which the decision was based.
	Facts any
}

// Step is the result of Decide.
type Step[O, S, E any] struct {
	Snapshot S
	// needs are the expensive facts that Snapshot was observed with.
	needs []transitions.Need
	// acted means that Act was called: effects may have been executed since Snapshot was observed.
	acted bool
	// Lifecycles are those of Results that have or get an entry.
	Lifecycles []machines.Evaluator[O, S, E]
	// Dropped are the entries of instances that are not declared any more and have nothing left to release.
	Dropped []string
	// Moved are the transitions to commit in one write: one, or the first entries of several lifecycles.
	Moved []Moved
	// Results of all lifecycles, in the order of the kind, with their instances in order of name.
	Results []LifecycleResult[E]
	// Released is true if the object is being deleted and no lifecycle has anything left to release.
	Released bool
	// Decided is true if every lifecycle has evaluated the object's generation, once the transitions of this reconcile are committed.
	Decided bool
	// Errs are defects of machines. They do not affect the other lifecycles.
	Errs []error
}

// Decide observes once for all lifecycles, evaluates each persisted state and selects the transitions to commit.
func Decide[O, S, E any](in In[O, S, E]) (Step[O, S, E], error) {
	var step Step[O, S, E]
	in.entries = EntriesOf(in.Status)
	needs := in.needs()
	snapshot, err := in.Observe(needs, false)
	if err != nil {
		return step, fmt.Errorf("observing: %w", err)
	}
	step.Snapshot, step.needs, step.Decided, step.Released = snapshot, needs, true, in.Deleting
	var instances []instance
	step.Lifecycles, instances = in.expand(snapshot)
	step.Results = make([]LifecycleResult[E], len(step.Lifecycles))
	var wrong []transitions.Need
	for i, lc := range step.Lifecycles {
		s := &step.Results[i]
		s.Name, s.Deleting = lc.Name(), in.Deleting
		if len(instances) > 0 {
			if instances[i].undecided {
				s.Unlisted = instances[i].unlisted
				s.Decision.Err, s.Decision.Released = instances[i].err, in.Deleting && instances[i].holdsNothing(lc.Graph())
				continue
			}
			s.Deleting = s.Deleting || instances[i].removed
		}
		s.Entry = in.entries.Find(lc.Name())
		if s.Entry != nil {
			s.State, _ = lc.State(s.Entry.State)
		}
		in.decide(s, lc, snapshot, needs)
		wrong = merge(wrong, s.Decision.Needs)
	}
	if len(wrong) > 0 {
		if needs, err = in.infer(&step, merge(needs, wrong)); err != nil {
			return step, err
		}
	}
	err = in.enter(&step, needs)
	step.conclude(instances)
	return step, err
}

// conclude summarises the results.
func (step *Step[O, S, E]) conclude(instances []instance) {
	for i := range step.Results {
		s := &step.Results[i]
		if s.Decision.Err != nil {
			step.Errs = append(step.Errs, fmt.Errorf("lifecycle %s: %w", s.Name, s.Decision.Err))
		}
		step.Released = step.Released && s.Decision.Released
		hidden := len(instances) > 0 && instances[i].hidden // what is declared is decided
		step.Decided = step.Decided && (hidden || s.settles || s.Decision.Decided && s.Decision.Move == nil)
		if len(instances) > 0 && instances[i].removed && s.Decision.Released && s.Decision.Move == nil {
			step.Dropped = append(step.Dropped, s.Name)
		}
	}
	gone := slices.Clip(step.Dropped)
	for i := range instances {
		if instances[i].hidden {
			gone = append(gone, step.Results[i].Name)
		}
	}
	if len(gone) > 0 {
		step.Lifecycles = slices.DeleteFunc(step.Lifecycles, func(lc machines.Evaluator[O, S, E]) bool { return slices.Contains(gone, lc.Name()) })
	}
}

func (in *In[O, S, E]) decide(s *LifecycleResult[E], lc machines.Evaluator[O, S, E], snapshot S, needs []transitions.Need) {
	s.evaluation = lc.Evaluate(in.input(lc, s.Entry, snapshot, needs, s.Deleting, false))
	s.Decision = s.evaluation.Decide()
}

// infer observes again with the facts that inference needs, and decides again the lifecycles whose persisted state was
// contradicted.
func (in *In[O, S, E]) infer(step *Step[O, S, E], needs []transitions.Need) ([]transitions.Need, error) {
	snapshot, err := in.Observe(needs, false)
	if err != nil {
		return needs, fmt.Errorf("observing what infers a lifecycle: %w", err)
	}
	step.Snapshot, step.needs = snapshot, needs
	for i, lc := range step.Lifecycles {
		if s := &step.Results[i]; len(s.Decision.Needs) > 0 {
			in.decide(s, lc, snapshot, needs)
		}
	}
	return needs, nil
}

// enter converts the transitions of this reconcile to entries, and observes what the entered states wait for. If a lifecycle
// cannot enter its next state, it stays in its state and another lifecycle gets its turn.
func (in *In[O, S, E]) enter(step *Step[O, S, E], needs []transitions.Need) error {
	for len(step.Moved) == 0 {
		moving := in.moving(step.Results)
		if len(moving) == 0 {
			return nil
		}
		snapshot := step.Snapshot
		var more []transitions.Need
		for _, i := range moving {
			more = merge(more, step.Lifecycles[i].NeedsIn(step.Results[i].Decision.Move.To))
		}
		if missing(needs, more) {
			needs = merge(needs, more)
			var err error
			if snapshot, err = in.Observe(needs, false); err != nil {
				return fmt.Errorf("observing what the next state waits for: %w", err)
			}
		}
		for _, i := range moving {
			if moved, ok := in.move(&step.Results[i], step.Lifecycles[i], snapshot, needs); ok {
				step.Moved = append(step.Moved, moved)
			}
		}
		step.Snapshot, step.needs = snapshot, needs
	}
	return nil
}

// move enters the next state of a lifecycle and evaluates that state with the same facts. If the lifecycle stays there, it has
// evaluated the object's generation, so that observedGeneration needs no separate write.
func (in *In[O, S, E]) move(s *LifecycleResult[E], lc machines.Evaluator[O, S, E], snapshot S, needs []transitions.Need) (Moved, bool) {
	entry, err := lc.Evaluate(in.input(lc, s.Entry, snapshot, needs, s.Deleting, false)).Enter(*s.Decision.Move)
	if err != nil {
		s.Decision = machines.Decision{Err: err}
		return Moved{}, false
	}
	then := lc.Evaluate(in.input(lc, &entry, snapshot, needs, s.Deleting, false)).Decide()
	s.settles = then.Decided && then.Move == nil
	return Moved{Lifecycle: s.Name, Move: *s.Decision.Move, Entry: entry, Deleting: s.Deleting, Facts: s.evaluation.Facts()}, true
}

// moving selects the lifecycles whose transitions are committed: all first entries together, else one lifecycle, round robin.
func (in *In[O, S, E]) moving(results []LifecycleResult[E]) []int {
	var first []int
	next, start := -1, 0
	for i := range results {
		if results[i].Name == in.Last {
			start = i + 1
		}
		if results[i].Entry == nil && results[i].Decision.Move != nil && !in.slowed(&results[i]) {
			first = append(first, i)
		}
	}
	if len(first) > 0 {
		return first
	}
	for k := range results {
		i := (start + k) % len(results)
		if results[i].Decision.Move != nil && !in.slowed(&results[i]) {
			next = i
			break
		}
	}
	if next < 0 {
		return nil
	}
	return []int{next}
}

// slowed reports whether a transition must wait, because the lifecycle makes transitions too often or without progress.
func (in *In[O, S, E]) slowed(s *LifecycleResult[E]) bool {
	if in.Slowed == nil {
		return false
	}
	var old *lifecyclev1.Attempt
	if s.Entry != nil {
		old = s.Entry.Attempt
	}
	next := s.Decision.Move.Attempt
	return in.Slowed(s.Name, next != nil && !machines.SameAttempt(old, next))
}

// Project returns the entry to show in the status now, or nil if the lifecycle has none.
func (s *LifecycleResult[E]) Project() *lifecyclev1.Lifecycle {
	if s.Entry == nil {
		return nil
	}
	shown := s.evaluation.Project()
	return &shown
}

// Problems returns the reasons of the problems that the lifecycle waits for to be solved.
func (s *LifecycleResult[E]) Problems() []transitions.Reason { return s.evaluation.Problems() }

// Facts returns the facts on which the decision was based.
func (s *LifecycleResult[E]) Facts() any { return s.evaluation.Facts() }

// Entry returns the entry of the lifecycle in the status, or nil.
func Entry(status *lifecyclev1.Status, lifecycle string) *lifecyclev1.Lifecycle {
	for i := range status.Lifecycles {
		if status.Lifecycles[i].Name == lifecycle {
			return &status.Lifecycles[i]
		}
	}
	return nil
}

func (in *In[O, S, E]) input(
	lc machines.Evaluator[O, S, E], entry *lifecyclev1.Lifecycle, snapshot S, needs []transitions.Need, deleting, live bool,
) machines.EvaluationInput[O, S] {
	ask := machines.ObserveOptions{Needs: needs, Live: live, Now: in.Now, RequestID: machines.RequestIDOf(in.UID, lc.Name(), entry)}
	if entry != nil {
		ask.Attempt, ask.EnteredAt = entry.Attempt, entry.EnteredAt.Time
	}
	return machines.EvaluationInput[O, S]{
		Object: in.Object, Snapshot: snapshot, UID: in.UID, Generation: in.Generation, Entry: entry, Deleting: deleting,
		DeadlineScale: in.DeadlineScale, Options: ask,
	}
}

func (in *In[O, S, E]) needs() []transitions.Need {
	needs := in.AlwaysNeeded
	for _, lc := range Stored(in.Lifecycles, in.Status) {
		needs = merge(needs, lc.Needs(in.entries.Find(lc.Name())))
	}
	return needs
}

func missing(have, want []transitions.Need) bool {
	for _, w := range want {
		if !slices.Contains(have, w) {
			return true
		}
	}
	return false
}

// merge returns the union of two lists. It modifies neither, because both may belong to a compiled machine.
func merge(have, more []transitions.Need) []transitions.Need {
	if len(have) == 0 {
		return more
	}
	out := slices.Clip(have)
	for _, n := range more {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
