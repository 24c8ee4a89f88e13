package machines

import (
	"github.com/detent-dev/detent/states"
)

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
	if b := s.Backoff; b.Max > 0 && b.Max < b.Min {
		found.add(ErrBackoff, where, "the Max of its Backoff is %s, less than its Min of %s: declare a longer Max, or none", b.Max, b.Min)
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
