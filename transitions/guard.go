package transitions

import (
	"slices"
	"strings"
)

// Guard is a named pure predicate over facts and data. It calls no client and reads no clock: the time is a fact.
//
// A guard is a value: either a leaf that names a function, or All, Any or Not of other guards.
type Guard[F, M any] struct {
	// Name in kebab-case. One name has one meaning within a machine.
	Name string
	// Doc says in one sentence when the guard says yes.
	Doc string
	// Want is the expectation that waitingFor shows while the guard does not say yes.
	Want string
	// Needs are the costly facts that Ask reads. A fact whose need is missing here panics with NotAsked when it is read.
	Needs []Need
	// Ask evaluates the guard. Nil for combined guards.
	Ask func(facts *F, memo M) Verdict

	op      operator
	of      []Guard[F, M]
	certain bool
	reason  string
}

type operator uint8

const (
	leaf operator = iota
	all
	anyOf
	not
)

// All says yes if every guard says yes, no if at least one says no, and otherwise unknown (Kleene).
func All[F, M any](guards ...Guard[F, M]) Guard[F, M] {
	return Guard[F, M]{Name: joined("all", guards), op: all, of: guards}
}

// Any says yes if at least one guard says yes, no if every guard says no, and otherwise unknown (Kleene).
func Any[F, M any](guards ...Guard[F, M]) Guard[F, M] {
	return Guard[F, M]{Name: joined("any", guards), op: anyOf, of: guards}
}

// Not exchanges yes and no and leaves unknown. It takes its own want text, because the negated expectation reads differently.
func Not[F, M any](guard Guard[F, M], want string) Guard[F, M] {
	return Guard[F, M]{Name: "not(" + guard.Name + ")", Want: want, op: not, of: []Guard[F, M]{guard}}
}

// Always returns a guard that says yes.
func Always[F, M any]() Guard[F, M] {
	return Guard[F, M]{
		Name: "always", Doc: "holds in any world", Want: "nothing", certain: true,
		Ask: func(*F, M) Verdict { return Allow() },
	}
}

// AlwaysBecause returns Always with a reason, where Compile would otherwise suspect an oversight: as the invariant of a Wait it
// states that only transitions can end the wait, and the reason says why they suffice.
func AlwaysBecause[F, M any](reason string) Guard[F, M] {
	g := Always[F, M]()
	g.reason = reason
	return g
}

// Intended reports whether the guard was made by AlwaysBecause, with a reason.
func (g Guard[F, M]) Intended() bool { return g.reason != "" }

// Certain reports whether the guard is Always. Its tests need no row in which it does not say yes.
func (g Guard[F, M]) Certain() bool { return g.certain }

func joined[F, M any](kind string, guards []Guard[F, M]) string {
	names := make([]string, len(guards))
	for i := range guards {
		names[i] = guards[i].Name
	}
	return kind + "(" + strings.Join(names, ", ") + ")"
}

// IsZero reports whether the guard was left out of a declaration.
func (g Guard[F, M]) IsZero() bool { return g.Ask == nil && g.op == leaf }

// Combined reports whether the guard is All, Any or Not of other guards.
func (g Guard[F, M]) Combined() bool { return g.op != leaf }

// Alternative reports whether the guard is Any of other guards.
func (g Guard[F, M]) Alternative() bool { return g.op == anyOf }

// Negated returns the guard inside a Not, and false for any other guard.
func (g Guard[F, M]) Negated() (Guard[F, M], bool) {
	if g.op == not {
		return g.of[0], true
	}
	return Guard[F, M]{}, false
}

// Verdict evaluates the guard. It panics with NotAsked if a leaf reads a fact that was not requested.
func (g Guard[F, M]) Verdict(facts *F, memo M) Verdict {
	switch g.op {
	case all:
		return g.first(facts, memo, No)
	case anyOf:
		return g.first(facts, memo, Yes)
	case not:
		inner := g.of[0].Verdict(facts, memo)
		return Verdict{Answer: inner.Answer.Not(), Want: g.Want, Saw: inner.Saw, Pending: inner.Pending}
	default:
		v := g.Ask(facts, memo)
		if v.Want == "" {
			v.Want = g.Want
		}
		return v
	}
}

// first returns the verdict of the first guard whose answer decides the combination. Without one it returns the verdict of the
// first guard that is unknown and not pending, then of the first that is pending, and else the opposite answer.
func (g Guard[F, M]) first(facts *F, memo M, decides Answer) Verdict {
	result := Verdict{Answer: decides.Not()}
	for i := range g.of {
		v := g.of[i].Verdict(facts, memo)
		if v.Answer == decides {
			return v
		}
		switch {
		case v.Answer == Unknown && (result.Answer != Unknown || result.Pending && !v.Pending):
			result = v
		case result.Answer != Unknown && result.Saw == "":
			result.Want, result.Saw = v.Want, v.Saw
		}
	}
	return result
}

// Blocker is a guard that does not say yes, with its verdict.
type Blocker struct {
	Guard string
	Verdict
}

// Blockers returns the guards because of which this guard does not say yes. Each part of an All is listed separately.
func (g Guard[F, M]) Blockers(facts *F, memo M) []Blocker {
	if g.op == all {
		var out []Blocker
		for i := range g.of {
			out = append(out, g.of[i].Blockers(facts, memo)...)
		}
		return out
	}
	v := g.Verdict(facts, memo)
	if v.Answer == Yes {
		return nil
	}
	return []Blocker{{Guard: g.Name, Verdict: v}}
}

// AllNeeds returns the needs of the guard and of every guard within it, sorted and without duplicates.
func (g Guard[F, M]) AllNeeds() []Need {
	needs := slices.Clone(g.Needs)
	for i := range g.of {
		needs = append(needs, g.of[i].AllNeeds()...)
	}
	slices.Sort(needs)
	return slices.Compact(needs)
}

// Leaves returns the guards that are not combined, in order of declaration.
func (g Guard[F, M]) Leaves() []Guard[F, M] {
	if g.op == leaf {
		return []Guard[F, M]{g}
	}
	var out []Guard[F, M]
	for i := range g.of {
		out = append(out, g.of[i].Leaves()...)
	}
	return out
}

// Mutated returns a copy of the guard whose n-th leaf gives answer(a) where the original gives a. Test coverage is measured
// with such mutants: a sufficient table of rows fails on each of them.
func (g Guard[F, M]) Mutated(n int, answer func(Answer) Answer) Guard[F, M] {
	mutant, _ := g.mutated(n, answer)
	return mutant
}

func (g Guard[F, M]) mutated(n int, answer func(Answer) Answer) (Guard[F, M], int) {
	if g.op == leaf {
		if n == 0 {
			ask := g.Ask
			g.Ask = func(facts *F, memo M) Verdict {
				v := ask(facts, memo)
				v.Answer = answer(v.Answer)
				return v
			}
		}
		return g, n - 1
	}
	g.of = slices.Clone(g.of)
	for i := range g.of {
		g.of[i], n = g.of[i].mutated(n, answer)
	}
	return g, n
}

// Parts returns the guards directly within a combined one.
func (g Guard[F, M]) Parts() []Guard[F, M] { return slices.Clone(g.of) }
