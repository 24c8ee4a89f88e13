package detent

import (
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// The parts of a machine without data, over facts F and effects E. They are types of machines and transitions, so that all their
// fields, package machinetest and machines.Bind are available.
type (
	// Machine declares a machine.
	Machine[F, E any] = machines.Definition[F, struct{}, E]
	// State is a state of a machine.
	State[F, E any] = machines.State[F, struct{}, E]
	// Transition is a row of the machine's table.
	Transition[F any] = machines.Transition[F, struct{}]
	// Guard is a named pure predicate over facts.
	Guard[F any] = transitions.Guard[F, struct{}]
	// Inference infers the state from the facts.
	Inference[F any] = machines.Inference[F, struct{}]
	// Target is what the facts request.
	Target = machines.Target
)

// KeepAttempt as OnTargetChange means that a changed target has no effect before the state is left.
const KeepAttempt = machines.KeepAttempt

// Rest returns a state that has nothing to do.
func Rest(name, doc string) states.State {
	return states.State{Name: name, Kind: states.Rest, Doc: doc}
}

// Work returns a state that runs an action in every reconcile. It is polled at states.DefaultPoll. After the deadline the
// lifecycle is shown as Stalled; zero means never.
func Work(name, doc string, deadline time.Duration) states.State {
	return states.State{Name: name, Kind: states.Work, Doc: doc, Deadline: deadline}
}

// Wait returns a state that waits until a guard observes a change. It is polled at states.DefaultPoll. After the deadline the
// lifecycle is shown as Stalled.
func Wait(name, doc string, deadline time.Duration) states.State {
	return states.State{Name: name, Kind: states.Wait, Doc: doc, Deadline: deadline}
}

// Hold returns a state that refuses a change until a user has acted.
func Hold(name, doc string) states.State {
	return states.State{Name: name, Kind: states.Hold, Doc: doc}
}

// Do returns an action that requests the same effects in every reconcile. Each effect must be idempotent.
func Do[F, E any](effects ...E) *machines.Action[F, struct{}, E] {
	return DoFrom(func(*F) []E { return effects })
}

// DoFrom returns an action that requests the effects that follow from the facts; none means that the work is done.
func DoFrom[F, E any](effects func(facts *F) []E) *machines.Action[F, struct{}, E] {
	return &machines.Action[F, struct{}, E]{Effects: func(facts *F, _ struct{}) []E { return effects(facts) }}
}

// Is returns a guard that says yes while the condition holds, and otherwise no with what was observed. expected is its expectation,
// which waitingFor shows, and its doc.
func Is[F any](name, expected string, condition func(facts *F) (holds bool, observed string)) Guard[F] {
	return Guard[F]{Name: name, Doc: expected, Expected: expected, Evaluate: func(facts *F, _ struct{}) transitions.Verdict {
		return transitions.If(condition(facts))
	}}
}

// Known returns a constructor of guards over a costly fact, which otherwise is Is. The guards say unknown until the fact is known.
func Known[F, A any](need transitions.Need, fact func(facts *F) transitions.Fact[A]) func(name, expected string, condition func(facts *F, value A) (holds bool, observed string)) Guard[F] {
	return func(name, expected string, condition func(*F, A) (bool, string)) Guard[F] {
		return Guard[F]{Name: name, Doc: expected, Expected: expected, Needs: []transitions.Need{need}, Evaluate: func(facts *F, _ struct{}) transitions.Verdict {
			value, known := fact(facts).Get()
			if !known {
				return fact(facts).Gap()
			}
			return transitions.If(condition(facts, value))
		}}
	}
}

// Not exchanges yes and no. expected is the expectation of the negated guard.
func Not[F any](guard Guard[F], expected string) Guard[F] { return transitions.Not(guard, expected) }

// All says yes if every guard says yes.
func All[F any](guards ...Guard[F]) Guard[F] { return transitions.All(guards...) }

// Any says yes if at least one guard says yes.
func Any[F any](guards ...Guard[F]) Guard[F] { return transitions.Any(guards...) }

// Always returns a guard that says yes, for the Invariant of a state that is true in any world.
func Always[F any]() Guard[F] { return transitions.Always[F, struct{}]() }

// StartIn returns the inference of a machine whose state without a persisted one is always the same.
func StartIn[F any](state string) Inference[F] {
	return InferFrom(func(*F) string { return state }, state)
}

// InferFrom returns the inference of a machine whose state follows from the facts: find returns one of the states.
func InferFrom[F any](find func(facts *F) string, states ...string) Inference[F] {
	return Inference[F]{States: states, Find: func(facts *F) (machines.InferredState[struct{}], transitions.Verdict) {
		return machines.InferredState[struct{}]{State: find(facts)}, transitions.Allow()
	}}
}
