package machines

import (
	"regexp"

	"github.com/detent-dev/detent/states"
)

var (
	stateName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}$`)
	eventName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
)

// check adds every structural defect of the definition. A finding that may follow from another one is left out until that one
// is fixed: a misspelled state makes others unreachable, and a misspelled need leaves a declared one unused.
func check[F, M, E any](def *Definition[F, M, E], found *Findings) {
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
	checkHoldings(def, found)
}

func checkStates[F, M, E any](def *Definition[F, M, E], found *Findings) map[string]*State[F, M, E] {
	declared := make(map[string]*State[F, M, E], len(def.States))
	for i := range def.States {
		s := &def.States[i]
		where := "state " + s.Name
		if !stateName.MatchString(s.Name) {
			found.add(ErrName, where, "name states in UpperCamelCase, at most 64 characters")
		}
		if s.Name == Locating {
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

func checkKind[F, M, E any](s *State[F, M, E], where string, found *Findings) {
	switch s.Kind {
	case states.Rest, states.Work, states.Wait, states.Hold:
	default:
		found.add(ErrName, where, "kind %q is none of Rest, Work, Wait, Hold", s.Kind)
	}
	busy := s.Kind == states.Work || s.Kind == states.Wait
	if busy && s.While.IsZero() {
		found.add(ErrMissingWhile, where, "declare in While when the persisted state is still true, or use Always")
	}
	if s.Kind == states.Wait && s.Deadline <= 0 && s.DeadlineAt == nil {
		found.add(ErrMissingDeadline, where, "declare in Deadline after which time the wait is Stalled")
	}
	if s.Kind == states.Work && s.Do == nil {
		found.add(ErrMissingAction, where, "give it an action, or make it a Wait")
	}
	if s.Kind != states.Work && s.Do != nil {
		found.add(ErrMisplacedAction, where, "only Work acts; make it Work or drop the action")
	}
	if s.Kind != states.Rest && s.OnTarget == "" {
		found.add(ErrMissingOnTarget, where, "name in OnTarget the state that a changed target leads to, or CarryOn")
	}
	if s.Kind == states.Rest && s.OnTarget != "" {
		found.add(ErrMisplacedOnTarget, where, "rest is left by its transitions; drop OnTarget")
	}
	if s.Do != nil {
		checkAction(s, where, found)
	}
}

func checkAction[F, M, E any](s *State[F, M, E], where string, found *Findings) {
	if !eventName.MatchString(s.Do.Name) {
		found.add(ErrName, where+" action "+s.Do.Name, "name actions in kebab-case")
	}
	if s.Do.Doc == "" {
		found.add(ErrMissingDoc, where+" action "+s.Do.Name, "say in one sentence what it does")
	}
	if s.Do.Do == nil {
		found.add(ErrMissingAction, where, "action %s has no Do", s.Do.Name)
	}
	if !s.Do.Before.IsZero() && s.Do.TurnBack == "" {
		found.add(ErrMissingTurnBack, where, "name in TurnBack the state to enter when Before says no")
	}
	if s.Do.Before.IsZero() && s.Do.TurnBack != "" {
		found.add(ErrMissingBefore, where, "TurnBack is never taken without Before; declare Before or drop TurnBack")
	}
}

func checkTargets[F, M, E any](s *State[F, M, E], declared map[string]*State[F, M, E], found *Findings) {
	if s.OnTarget != "" && s.OnTarget != CarryOn && declared[s.OnTarget] == nil {
		found.undeclared(s.OnTarget, "OnTarget of state "+s.Name)
	}
	if s.Do != nil && s.Do.TurnBack != "" && declared[s.Do.TurnBack] == nil {
		found.undeclared(s.Do.TurnBack, "TurnBack of state "+s.Name)
	}
}

func checkTransitions[F, M, E any](def *Definition[F, M, E], declared map[string]*State[F, M, E], found *Findings) {
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
			found.add(ErrTwoGuards, where, "Pick answers in place of the Ask of Choose's guard; drop Ask")
		case t.Choose == nil && t.When.IsZero(), t.Choose != nil && t.Choose.Pick == nil:
			found.add(ErrMissingGuard, where, "give it When or Choose")
		}
		if to := declared[t.To]; t.OneWay && to != nil && to.Do != nil && to.Do.Before.IsZero() {
			found.add(ErrMissingBefore, where, "the action of %s needs Before with every permission that the path to it depends on", t.To)
		}
	}
}

func checkEvent(event, where string, found *Findings) {
	if !eventName.MatchString(event) {
		found.add(ErrName, where, "name events in kebab-case, at most 64 characters")
	}
	switch event {
	case EventLocated, EventMigrated, EventTargetChanged, EventTurnedBack:
		found.add(ErrReservedName, where, "the framework uses this event; choose another name")
	}
}
