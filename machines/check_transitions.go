package machines

import (
	"github.com/detent-dev/detent/states"
)

func checkTransitions[F, D, E any](def *Definition[F, D, E], declared map[string]*State[F, D, E], found *Findings) {
	type key struct{ event, from string }
	seen := map[key]bool{}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		where := "transition " + t.Event + " from " + t.From
		checkEvent(t.Event, where, found)
		if seen[key{t.Event, t.From}] {
			found.add(ErrDuplicateEdge, where, "give each edge of a state its own event")
		}
		seen[key{t.Event, t.From}] = true
		for _, end := range []string{t.From, t.To} {
			if declared[end] == nil {
				found.undeclared(end, where)
			}
		}
		if t.Doc == "" {
			found.add(ErrMissingDoc, where, "say in one sentence why the lifecycle takes it")
		}
		switch {
		case t.Choose != nil && !t.When.IsZero():
			found.add(ErrTwoGuards, where, "keep When or Choose")
		case t.Choose != nil && !t.Choose.Guard.IsZero():
			found.add(ErrTwoGuards, where, "Pick answers in place of the Evaluate of Choose's guard; drop Evaluate")
		case t.Choose == nil && t.When.IsZero(), t.Choose != nil && t.Choose.Pick == nil:
			found.add(ErrMissingGuard, where, "give it When or Choose")
		}
		if to := declared[t.To]; to != nil {
			checkEntered(t, to, where, found)
		}
	}
}

// checkEntered checks what a transition requires of the state that it enters.
func checkEntered[F, D, E any](t *Transition[F, D], to *State[F, D, E], where string, found *Findings) {
	if t.OneWay && to.Action != nil && to.Action.Precondition.IsZero() {
		found.add(ErrMissingPrecondition, where, "the action of %s needs Precondition with every permission that the path to it depends on", t.To)
	}
	if t.Quiet && (t.OneWay || to.Kind == states.Hold) {
		found.add(ErrQuiet, where, "drop Quiet: an event reports what cannot be undone and what waits for a user")
	}
}

func checkEvent(event, where string, found *Findings) {
	if !eventName.MatchString(event) {
		found.add(ErrName, where, "name events in kebab-case, at most 64 characters")
	}
	switch event {
	case EventInferred, EventMigrated, EventTargetChanged, EventPreconditionFailed, EventDeletionRequested:
		found.add(ErrReservedName, where, "the framework uses this event; choose another name")
	}
}
