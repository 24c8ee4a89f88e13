package machines

import (
	"regexp"

	"github.com/detent-dev/detent/states"
)

var (
	stateName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}$`)
	eventName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
)

// IsName reports whether the name is in kebab-case and has at most 64 characters, as names of machines, lifecycles, events, guards,
// actions and records are.
func IsName(name string) bool { return eventName.MatchString(name) }

// check adds every structural defect of the definition. A finding that may follow from another one is left out until that one
// is fixed: a misspelled state makes others unreachable, and a misspelled need leaves a declared one unused.
func check[F, D, E any](def *Definition[F, D, E], found *Findings) {
	if !eventName.MatchString(def.Name) {
		found.add(ErrName, "machine "+def.Name, "name the machine in kebab-case, at most 64 characters")
	}
	if def.Doc == "" {
		found.add(ErrMissingDoc, "machine "+def.Name, "say in one sentence what the machine is for")
	}
	declared := checkStates(def, found)
	checkTransitions(def, declared, found)
	checkReach(def, declared, found)
	checkWaysOut(def, declared, found)
	checkMachine(def, declared, found)
	checkGuards(def, found)
	checkNeeds(def, found)
	checkHeldResources(def, found)
	checkDeletion(def, declared, found)
}

func checkStates[F, D, E any](def *Definition[F, D, E], found *Findings) map[string]*State[F, D, E] {
	declared := make(map[string]*State[F, D, E], len(def.States))
	for i := range def.States {
		s := &def.States[i]
		where := "state " + s.Name
		if !stateName.MatchString(s.Name) {
			found.add(ErrName, where, "name states in UpperCamelCase, at most 64 characters")
		}
		if s.Name == Inferring {
			found.add(ErrReservedName, where, "every machine has this state without declaring it")
		}
		if declared[s.Name] != nil {
			found.add(ErrDuplicateState, where, "declare it once")
		}
		declared[s.Name] = s
		if s.Doc == "" {
			found.add(ErrMissingDoc, where, "say in one sentence what it means to be here")
		}
		checkKind(s, where, found)
	}
	for i := range def.States {
		checkTargets(&def.States[i], declared, found)
	}
	return declared
}

func checkKind[F, D, E any](s *State[F, D, E], where string, found *Findings) {
	switch s.Kind {
	case states.Rest, states.Work, states.Wait, states.Hold:
	default:
		found.add(ErrName, where, "kind %q is none of Rest, Work, Wait, Hold", s.Kind)
	}
	busy := s.Kind == states.Work || s.Kind == states.Wait
	if busy && s.Invariant.IsZero() {
		found.add(ErrMissingInvariant, where, "declare in Invariant when the persisted state is still true, or use Always")
	}
	if s.Kind == states.Wait && s.Deadline <= 0 && s.DeadlineAt == nil {
		found.add(ErrMissingDeadline, where, "declare in Deadline after which time the wait is Stalled")
	}
	if s.Kind == states.Work && s.Action == nil {
		found.add(ErrMissingAction, where, "give it an action, or make it a Wait")
	}
	if s.Kind != states.Work && s.Action != nil {
		found.add(ErrMisplacedAction, where, "only Work acts; make it Work or drop the action")
	}
	if s.Kind != states.Rest && s.OnTargetChange == "" {
		found.add(ErrMissingOnTargetChange, where, "name in OnTargetChange the state that a changed target leads to, or KeepAttempt")
	}
	if s.Kind == states.Rest && s.OnTargetChange != "" {
		found.add(ErrMisplacedOnTargetChange, where, "rest is left by its transitions; drop OnTargetChange")
	}
	if s.Action != nil {
		checkAction(s, where, found)
	}
}

func checkAction[F, D, E any](s *State[F, D, E], where string, found *Findings) {
	if !eventName.MatchString(s.Action.Name) {
		found.add(ErrName, where+" action "+s.Action.Name, "name actions in kebab-case")
	}
	if s.Action.Effects == nil {
		found.add(ErrMissingAction, where, "action %s has no Effects", s.Action.Name)
	}
	if !s.Action.Precondition.IsZero() && s.Action.OnPreconditionFailed == "" {
		found.add(ErrMissingOnPreconditionFailed, where, "name in OnPreconditionFailed the state to enter when Precondition says no")
	}
	if s.Action.Precondition.IsZero() && s.Action.OnPreconditionFailed != "" {
		found.add(ErrMissingPrecondition, where, "OnPreconditionFailed is never taken without Precondition; declare Precondition or drop OnPreconditionFailed")
	}
}

func checkTargets[F, D, E any](s *State[F, D, E], declared map[string]*State[F, D, E], found *Findings) {
	if s.OnTargetChange != "" && s.OnTargetChange != KeepAttempt && declared[s.OnTargetChange] == nil {
		found.undeclared(s.OnTargetChange, "OnTargetChange of state "+s.Name)
	}
	if s.Action != nil && s.Action.OnPreconditionFailed != "" && declared[s.Action.OnPreconditionFailed] == nil {
		found.undeclared(s.Action.OnPreconditionFailed, "OnPreconditionFailed of state "+s.Name)
	}
}

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
