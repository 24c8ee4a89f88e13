package transitions

import (
	"slices"
	"strings"

	"github.com/detent-dev/detent/internal/access"
)

// Guard is a named pure predicate over facts and data. It calls no client and reads no clock: the time is a fact.
//
// A guard is a value: either a leaf that names a function, or All, Any or Not of other guards.
type Guard[F, D any] struct {
	// Name in kebab-case. One name has one meaning within a machine.
	Name string
	// Doc says in one sentence when the guard says yes.
	Doc string
	// Expected is the expectation that waitingFor shows while the guard does not say yes.
	Expected string
	// Needs are the costly facts that Evaluate reads. A fact whose need is missing here panics with NotAsked when it is read.
	Needs []Need
	// Evaluate evaluates the guard. Nil for combined guards.
	Evaluate func(facts *F, data D) Verdict

	op      operator
	of      []Guard[F, D]
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
func All[F, D any](guards ...Guard[F, D]) Guard[F, D] {
	return Guard[F, D]{Name: joined("all", guards), op: all, of: guards}
}

// Any says yes if at least one guard says yes, no if every guard says no, and otherwise unknown (Kleene).
func Any[F, D any](guards ...Guard[F, D]) Guard[F, D] {
	return Guard[F, D]{Name: joined("any", guards), op: anyOf, of: guards}
}

// Not exchanges yes and no and leaves unknown. It takes its own want text, because the negated expectation reads differently.
func Not[F, D any](guard Guard[F, D], want string) Guard[F, D] {
	return Guard[F, D]{Name: "not(" + guard.Name + ")", Expected: want, op: not, of: []Guard[F, D]{guard}}
}

// Always returns a guard that says yes.
func Always[F, D any]() Guard[F, D] {
	return Guard[F, D]{
		Name: "always", Doc: "always satisfied", Expected: "nothing", certain: true,
		Evaluate: func(*F, D) Verdict { return Allow() },
	}
}

// AlwaysBecause returns Always with a reason, where Compile would otherwise suspect an oversight: as the invariant of a Wait it
// states that only transitions can end the wait, and the reason says why they suffice.
func AlwaysBecause[F, D any](reason string) Guard[F, D] {
	g := Always[F, D]()
	g.reason = reason
	return g
}

// Intended reports whether the guard was made by AlwaysBecause, with a reason.
func (g Guard[F, D]) Intended() bool { return g.reason != "" }

// Certain reports whether the guard is Always. Its tests need no row in which it does not say yes.
func (g Guard[F, D]) Certain() bool { return g.certain }

func joined[F, D any](kind string, guards []Guard[F, D]) string {
	names := make([]string, len(guards))
	for i := range guards {
		names[i] = guards[i].Name
	}
	return kind + "(" + strings.Join(names, ", ") + ")"
}

// IsZero reports whether the guard was left out of a declaration.
func (g Guard[F, D]) IsZero() bool { return g.Evaluate == nil && g.op == leaf }

// Combined reports whether the guard is All, Any or Not of other guards.
func (g Guard[F, D]) Combined() bool { return g.op != leaf }

// Alternative reports whether the guard is Any of other guards.
func (g Guard[F, D]) Alternative() bool { return g.op == anyOf }

// Negated returns the guard inside a Not, and false for any other guard.
func (g Guard[F, D]) Negated() (Guard[F, D], bool) {
	if g.op == not {
		return g.of[0], true
	}
	return Guard[F, D]{}, false
}

// Verdict evaluates the guard. It panics with NotAsked if a leaf reads a fact that was not requested.
func (g Guard[F, D]) Verdict(facts *F, data D) Verdict {
	switch g.op {
	case all:
		return g.first(facts, data, No)
	case anyOf:
		return g.first(facts, data, Yes)
	case not:
		inner := g.of[0].Verdict(facts, data)
		return Verdict{Answer: inner.Answer.Not(), Expected: g.Expected, Observed: inner.Observed, Reason: inner.Reason, Pending: inner.Pending}
	default:
		v := g.Evaluate(facts, data)
		if v.Expected == "" {
			v.Expected = g.Expected
		}
		return v
	}
}

// first returns the verdict of the first guard whose answer decides the combination. Without one it returns the verdict of the
// first guard that is unknown and not pending, then of the first that is pending, and else the opposite answer.
func (g Guard[F, D]) first(facts *F, data D, decides Answer) Verdict {
	result := Verdict{Answer: decides.Not()}
	for i := range g.of {
		v := g.of[i].Verdict(facts, data)
		if v.Answer == decides {
			return v
		}
		switch {
		case v.Answer == Unknown && (result.Answer != Unknown || result.Pending && !v.Pending):
			result = v
		case result.Answer != Unknown && result.Observed == "":
			result.Expected, result.Observed, result.Reason = v.Expected, v.Observed, v.Reason
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
func (g Guard[F, D]) Blockers(facts *F, data D) []Blocker {
	if g.op == all {
		var out []Blocker
		for i := range g.of {
			out = append(out, g.of[i].Blockers(facts, data)...)
		}
		return out
	}
	v := g.Verdict(facts, data)
	if v.Answer == Yes {
		return nil
	}
	return []Blocker{{Guard: g.Name, Verdict: v}}
}

// AllNeeds returns the needs of the guard and of every guard within it, sorted and without duplicates.
func (g Guard[F, D]) AllNeeds() []Need {
	needs := slices.Clone(g.Needs)
	for i := range g.of {
		needs = append(needs, g.of[i].AllNeeds()...)
	}
	slices.Sort(needs)
	return slices.Compact(needs)
}

// Leaves returns the guards that are not combined, in order of declaration.
func (g Guard[F, D]) Leaves() []Guard[F, D] {
	if g.op == leaf {
		return []Guard[F, D]{g}
	}
	var out []Guard[F, D]
	for i := range g.of {
		out = append(out, g.of[i].Leaves()...)
	}
	return out
}

// Mutated returns a copy of the guard whose n-th leaf gives answer(a) where the original gives a. Test coverage is measured
// with such mutants: a sufficient table of rows fails on each of them.
func (g Guard[F, D]) Mutated(_ access.Key, n int, answer func(Answer) Answer) Guard[F, D] {
	mutant, _ := g.mutated(n, answer)
	return mutant
}

func (g Guard[F, D]) mutated(n int, answer func(Answer) Answer) (Guard[F, D], int) {
	if g.op == leaf {
		if n == 0 {
			ask := g.Evaluate
			g.Evaluate = func(facts *F, data D) Verdict {
				v := ask(facts, data)
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
func (g Guard[F, D]) Parts() []Guard[F, D] { return slices.Clone(g.of) }
