// Package pass is the core of one reconcile as a function of plain values: from an object and a view of the world to
// the edges to commit, the effects to perform and the entries to show. It knows no client, codec, clock or goroutine,
// so that the runtime, the plan and the exploration run the very same code.
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

// In is everything a pass is told.
type In[O, V, E any] struct {
	Object     O
	Lifecycles []machines.Lifecycle[O, V, E]
	// Status is the object's; it is never changed.
	Status     *lifecyclev1.Status
	UID        string
	Generation int64
	Now        time.Time
	// DeadlineScale stretches declared deadlines; 0 means 1.
	DeadlineScale float64
	// Shown are costly facts that are observed whatever the lifecycles ask, since the kind shows them to people.
	Shown []transitions.Need
	// View looks at the world. Decide calls it once, again if a bookmark turned out wrong and must be located, and again if an
	// entered state waits for more. Act calls it once, and again to see what a state turned back to waits for.
	View func(needs []transitions.Need, live bool) (V, error)
	// Last is the lifecycle that moved last: the others come first this time.
	Last string
	// Slowed says that a lifecycle may not take an edge yet, since it moves too often or without making progress. begins says that
	// the edge begins an attempt.
	Slowed func(lifecycle string, begins bool) bool
}

// Standing is one lifecycle as a pass found it.
type Standing[E any] struct {
	Name     string
	Entry    *lifecyclev1.Lifecycle
	State    states.State
	Decision machines.Decision
	look     machines.Look[E]
	// settles says that the move of this pass leads to where the lifecycle stays with the facts of this pass.
	settles bool
}

// Moved is a transition to commit.
type Moved struct {
	Lifecycle string
	Move      machines.Move
	Entry     lifecyclev1.Lifecycle
	// Facts that the move was decided upon.
	Facts any
}

// Step is what deciding found.
type Step[V, E any] struct {
	View V
	// Moved are the edges to commit in one write: one, or the first entries of several lifecycles.
	Moved []Moved
	// Standings in the order of the kind.
	Standings []Standing[E]
	// Decided says that every lifecycle has decided upon the object's generation, once the moves of this pass are committed.
	Decided bool
	// Errs are defects of machines; the other lifecycles go on.
	Errs []error
}

// Decide observes once beneath all lifecycles, resolves every bookmark and picks the edges to commit.
func Decide[O, V, E any](in In[O, V, E]) (Step[V, E], error) {
	var step Step[V, E]
	needs := in.needs()
	view, err := in.View(needs, false)
	if err != nil {
		return step, fmt.Errorf("observing: %w", err)
	}
	step.View, step.Decided = view, true
	step.Standings = make([]Standing[E], len(in.Lifecycles))
	var wrong []transitions.Need
	for i, lc := range in.Lifecycles {
		s := &step.Standings[i]
		s.Name, s.Entry = lc.Name(), Entry(in.Status, lc.Name())
		if s.Entry != nil {
			s.State, _ = lc.State(s.Entry.State)
		}
		in.decide(s, lc, view, needs)
		wrong = merge(wrong, s.Decision.Needs)
	}
	if len(wrong) > 0 {
		if needs, err = in.locate(&step, merge(needs, wrong)); err != nil {
			return step, err
		}
	}
	err = in.enter(&step, needs)
	for i := range step.Standings {
		s := &step.Standings[i]
		if s.Decision.Err != nil {
			step.Errs = append(step.Errs, fmt.Errorf("lifecycle %s: %w", s.Name, s.Decision.Err))
		}
		step.Decided = step.Decided && (s.settles || s.Decision.Decided && s.Decision.Move == nil)
	}
	return step, err
}

func (in *In[O, V, E]) decide(s *Standing[E], lc machines.Lifecycle[O, V, E], view V, needs []transitions.Need) {
	s.look = lc.Look(in.question(lc, s.Entry, view, needs, false))
	s.Decision = s.look.Decide()
}

// locate looks again with what finding the state of contradicted bookmarks takes, and decides those lifecycles anew.
func (in *In[O, V, E]) locate(step *Step[V, E], needs []transitions.Need) ([]transitions.Need, error) {
	view, err := in.View(needs, false)
	if err != nil {
		return needs, fmt.Errorf("observing what locates a lifecycle: %w", err)
	}
	step.View = view
	for i, lc := range in.Lifecycles {
		if s := &step.Standings[i]; len(s.Decision.Needs) > 0 {
			in.decide(s, lc, view, needs)
		}
	}
	return needs, nil
}

// enter turns the moves of this pass into entries, observing what the states entered wait for. A lifecycle that cannot enter
// where it wants to go stays, and makes room for another.
func (in *In[O, V, E]) enter(step *Step[V, E], needs []transitions.Need) error {
	for len(step.Moved) == 0 {
		moving := in.moving(step.Standings)
		if len(moving) == 0 {
			return nil
		}
		view := step.View
		var more []transitions.Need
		for _, i := range moving {
			more = merge(more, in.Lifecycles[i].NeedsIn(step.Standings[i].Decision.Move.To))
		}
		if missing(needs, more) {
			needs = merge(needs, more)
			var err error
			if view, err = in.View(needs, false); err != nil {
				return fmt.Errorf("observing what the next state waits for: %w", err)
			}
		}
		for _, i := range moving {
			if moved, ok := in.move(&step.Standings[i], in.Lifecycles[i], view, needs); ok {
				step.Moved = append(step.Moved, moved)
			}
		}
		step.View = view
	}
	return nil
}

// move enters the state that a lifecycle goes to, and asks at once what it would do there with these facts: where it stays,
// it has decided upon the object's generation, so that saying so needs no write of its own.
func (in *In[O, V, E]) move(s *Standing[E], lc machines.Lifecycle[O, V, E], view V, needs []transitions.Need) (Moved, bool) {
	entry, err := lc.Look(in.question(lc, s.Entry, view, needs, false)).Enter(*s.Decision.Move)
	if err != nil {
		s.Decision = machines.Decision{Err: err}
		return Moved{}, false
	}
	then := lc.Look(in.question(lc, &entry, view, needs, false)).Decide()
	s.settles = then.Decided && then.Move == nil
	return Moved{Lifecycle: s.Name, Move: *s.Decision.Move, Entry: entry, Facts: s.look.Facts()}, true
}

// moving picks the lifecycles whose moves are committed: all first entries at once, else one, round robin.
func (in *In[O, V, E]) moving(standings []Standing[E]) []int {
	var first []int
	next, start := -1, 0
	for i := range standings {
		if standings[i].Name == in.Last {
			start = i + 1
		}
		if standings[i].Entry == nil && standings[i].Decision.Move != nil && !in.slowed(&standings[i]) {
			first = append(first, i)
		}
	}
	if len(first) > 0 {
		return first
	}
	for k := range standings {
		i := (start + k) % len(standings)
		if standings[i].Decision.Move != nil && !in.slowed(&standings[i]) {
			next = i
			break
		}
	}
	if next < 0 {
		return nil
	}
	return []int{next}
}

// slowed says whether a move must wait, because the lifecycle moves too often or without making progress.
func (in *In[O, V, E]) slowed(s *Standing[E]) bool {
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

// Acting is what one lifecycle's action wants.
type Acting[E any] struct {
	Lifecycle string
	Ticket    machines.Ticket
	Action    machines.ActionInfo
	machines.Acting[E]
	// Turned is the entry to commit because a permission was withdrawn.
	Turned *Moved
}

// Wants says whether the lifecycle's action may run in this pass.
func Wants[O, V, E any](in In[O, V, E], s *Standing[E]) (machines.ActionInfo, bool) {
	if s.Entry == nil || !s.Decision.MayAct || s.Decision.Move != nil {
		return machines.ActionInfo{}, false
	}
	lc := in.lifecycle(s.Name)
	return lc.Action(s.Entry.State)
}

// Idle says that an action which Wants allows has nothing to do, by the facts that the lifecycle was decided upon. Nothing need
// be looked at live then: where a cache that lags hides what is to be done, it brings another pass once it has caught up.
func Idle[E any](s *Standing[E]) bool { return s.look.Idle() }

// Act asks the action of one lifecycle, on a live view where the action demands one. The bookmark must be proven current.
func Act[O, V, E any](in In[O, V, E], s *Standing[E]) (Acting[E], V, error) {
	lc := in.lifecycle(s.Name)
	action, _ := lc.Action(s.Entry.State)
	out := Acting[E]{Lifecycle: s.Name, Action: action, Ticket: machines.TicketOf(in.UID, s.Name, s.Entry)}
	needs := merge(lc.Needs(s.Entry), action.Needs)
	view, err := in.View(needs, action.Live)
	if err != nil {
		return out, view, fmt.Errorf("observing for action %s: %w", action.Name, err)
	}
	look := lc.Look(in.question(lc, s.Entry, view, needs, action.Live))
	out.Acting = look.Act()
	facts := look.Facts()
	if out.TurnBack == nil {
		return out, view, nil
	}
	if more := lc.NeedsIn(out.TurnBack.To); missing(needs, more) {
		needs = merge(needs, more)
		if view, err = in.View(needs, false); err != nil {
			return out, view, fmt.Errorf("observing what %s waits for: %w", out.TurnBack.To, err)
		}
		look = lc.Look(in.question(lc, s.Entry, view, needs, false))
	}
	entry, err := look.Enter(*out.TurnBack)
	if err != nil {
		return out, view, err
	}
	out.Turned = &Moved{Lifecycle: s.Name, Move: *out.TurnBack, Entry: entry, Facts: facts}
	return out, view, nil
}

// Project is the entry as a person should see it now.
func (s *Standing[E]) Project() *lifecyclev1.Lifecycle {
	if s.Entry == nil {
		return nil
	}
	shown := s.look.Project()
	return &shown
}

// Facts that the lifecycle was decided upon.
func (s *Standing[E]) Facts() any { return s.look.Facts() }

// Entry of the lifecycle in the status, or nil.
func Entry(status *lifecyclev1.Status, lifecycle string) *lifecyclev1.Lifecycle {
	for i := range status.Lifecycles {
		if status.Lifecycles[i].Name == lifecycle {
			return &status.Lifecycles[i]
		}
	}
	return nil
}

func (in *In[O, V, E]) lifecycle(name string) machines.Lifecycle[O, V, E] {
	for _, lc := range in.Lifecycles {
		if lc.Name() == name {
			return lc
		}
	}
	return nil
}

func (in *In[O, V, E]) question(
	lc machines.Lifecycle[O, V, E], entry *lifecyclev1.Lifecycle, view V, needs []transitions.Need, live bool,
) machines.Question[O, V] {
	ask := machines.Ask{Needs: needs, Live: live, Now: in.Now, Ticket: machines.TicketOf(in.UID, lc.Name(), entry)}
	if entry != nil {
		ask.Attempt, ask.EnteredAt = entry.Attempt, entry.EnteredAt.Time
	}
	return machines.Question[O, V]{
		Object: in.Object, View: view, UID: in.UID, Generation: in.Generation, Entry: entry, DeadlineScale: in.DeadlineScale, Ask: ask,
	}
}

func (in *In[O, V, E]) needs() []transitions.Need {
	needs := in.Shown
	for _, lc := range in.Lifecycles {
		needs = merge(needs, lc.Needs(Entry(in.Status, lc.Name())))
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

// merge adds what is missing. Neither list is changed: both may belong to a compiled machine.
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
