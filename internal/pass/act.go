package pass

import (
	"fmt"

	"github.com/detent-dev/detent/machines"
)

// ActionResult is the result of one lifecycle's action.
type ActionResult[E any] struct {
	Lifecycle string
	RequestID machines.RequestID
	Action    machines.ActionInfo
	machines.ActionResult[E]
	// FailedPrecondition is the entry to commit because the action's precondition failed. It is nil otherwise.
	FailedPrecondition *Moved
}

// Wants returns the action of a lifecycle and whether it may run in this reconcile.
func Wants[O, S, E any](in In[O, S, E], s *LifecycleResult[E]) (machines.ActionInfo, bool) {
	if s.Entry == nil || !s.Decision.MayAct || s.Decision.Move != nil {
		return machines.ActionInfo{}, false
	}
	lc := Find(in.Lifecycles, s.Name)
	return lc.Action(s.Entry.State)
}

// Idle reports whether an action that Wants allows has nothing to do, judged by the facts of the decision. No live read is needed
// then: if a stale cache hides work, the cache triggers another reconcile when it catches up.
func Idle[E any](s *LifecycleResult[E]) bool { return s.evaluation.Idle() }

// Act evaluates the action of one lifecycle, on a live observation if the action requires one. The first action of a reconcile that
// requires none is evaluated on the snapshot of the decision; later ones observe again, because effects may have been executed in
// the meantime. The caller must have proven that the persisted state is current.
func Act[O, S, E any](in In[O, S, E], step *Step[O, S, E], s *LifecycleResult[E]) (ActionResult[E], S, error) {
	lc := Find(in.Lifecycles, s.Name)
	action, _ := lc.Action(s.Entry.State)
	out := ActionResult[E]{Lifecycle: s.Name, Action: action, RequestID: machines.RequestIDOf(in.UID, s.Name, s.Entry)}
	needs := merge(lc.Needs(s.Entry), action.Needs)
	removed := s.Deleting && !in.Deleting
	if removed {
		needs = merge(in.AlwaysNeeded, needs) // the list of the instances may be read of these facts
	}
	snapshot, again := step.Snapshot, action.Live || step.acted || missing(step.needs, needs)
	step.acted = true
	if again {
		var err error
		if snapshot, err = in.Observe(needs, action.Live); err != nil {
			return out, snapshot, fmt.Errorf("observing for action %s: %w", action.Name, err)
		}
	}
	if removed && !in.isRemoved(s.Name, snapshot) {
		return out, snapshot, nil // the decision was made on an older list of the instances
	}
	evaluation := lc.Evaluate(in.input(lc, s.Entry, snapshot, needs, s.Deleting, action.Live))
	out.ActionResult = evaluation.Act()
	facts := evaluation.Facts()
	if out.PreconditionFailed == nil {
		return out, snapshot, nil
	}
	if more := lc.NeedsIn(out.PreconditionFailed.To); missing(needs, more) {
		needs = merge(needs, more)
		var err error
		if snapshot, err = in.Observe(needs, false); err != nil {
			return out, snapshot, fmt.Errorf("observing what %s waits for: %w", out.PreconditionFailed.To, err)
		}
		evaluation = lc.Evaluate(in.input(lc, s.Entry, snapshot, needs, s.Deleting, false))
	}
	entry, err := evaluation.Enter(*out.PreconditionFailed)
	if err != nil {
		return out, snapshot, err
	}
	out.FailedPrecondition = &Moved{Lifecycle: s.Name, Move: *out.PreconditionFailed, Entry: entry, Deleting: s.Deleting, Facts: facts}
	return out, snapshot, nil
}
