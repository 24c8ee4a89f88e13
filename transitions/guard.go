package transitions

import (
	"slices"
	"strings"
)

// Guard is a named pure predicate over facts and memo. It calls no client and no clock: time is a fact.
//
// A guard is a value: a leaf made by naming a function, or All, Any or Not of other guards.
type Guard[F, M any] struct {
	// Name in kebab-case, unique within a machine for one meaning.
	Name string
	// Doc says in one sentence when the guard says yes.
	Doc string
	// Want is what waitingFor shows a person while the guard does not say yes.
	Want string
	// Needs are the costly facts that Ask reads.
	Needs []Need
	// Ask answers. Nil for combined guards.
	Ask func(facts *F, memo M) Verdict

	op      operator
	of      []Guard[F, M]
	certain bool
}

type operator uint8

const (
	leaf operator = iota
	all
	anyOf
	not
)

// All says yes if every guard does, no if one says no, else unknown (Kleene).
func All[F, M any](guards ...Guard[F, M]) Guard[F, M] {
	return Guard[F, M]{Name: joined("all", guards), op: all, of: guards}
}

// Any says yes if one guard does, no if every one says no, else unknown (Kleene).
func Any[F, M any](guards ...Guard[F, M]) Guard[F, M] {
	return Guard[F, M]{Name: joined("any", guards), op: anyOf, of: guards}
}

// Not turns yes and no round. The negation of a wish reads differently from the wish, so it brings its own text.
func Not[F, M any](guard Guard[F, M], want string) Guard[F, M] {
	return Guard[F, M]{Name: "not(" + guard.Name + ")", Want: want, op: not, of: []Guard[F, M]{guard}}
}

// Always says yes.
func Always[F, M any]() Guard[F, M] {
	return Guard[F, M]{
		Name: "always", Doc: "holds in any world", Want: "nothing", certain: true,
		Ask: func(*F, M) Verdict { return Allow() },
	}
}

// Certain says whether the guard is Always, which owes no test an answer other than yes.
func (g Guard[F, M]) Certain() bool { return g.certain }

func joined[F, M any](kind string, guards []Guard[F, M]) string {
	names := make([]string, len(guards))
	for i := range guards {
		names[i] = guards[i].Name
	}
	return kind + "(" + strings.Join(names, ", ") + ")"
}

// IsZero says whether the guard was left out of a declaration.
func (g Guard[F, M]) IsZero() bool { return g.Ask == nil && g.op == leaf }

// Combined says whether the guard is All, Any or Not of others.
func (g Guard[F, M]) Combined() bool { return g.op != leaf }

// Alternative says whether the guard is Any of others.
func (g Guard[F, M]) Alternative() bool { return g.op == anyOf }

// Negated returns the guard inside a Not.
func (g Guard[F, M]) Negated() (Guard[F, M], bool) {
	if g.op == not {
		return g.of[0], true
	}
	return Guard[F, M]{}, false
}

// Verdict asks the guard.
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

// first returns the verdict of the first guard that decides, else of the first that does not know, else the opposite.
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

// Blocker is one guard that does not say yes.
type Blocker struct {
	Guard string
	Verdict
}

// Blockers lists what keeps the guard from saying yes, each part of an All on its own.
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

// AllNeeds are the needs of the guard and of every guard within it, sorted, each once.
func (g Guard[F, M]) AllNeeds() []Need {
	needs := slices.Clone(g.Needs)
	for i := range g.of {
		needs = append(needs, g.of[i].AllNeeds()...)
	}
	slices.Sort(needs)
	return slices.Compact(needs)
}

// Leaves are the guards at the bottom, in order.
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

// Mutated returns the guard with another answer of its n-th leaf, given the leaf's own: a mutant that a good test must notice.
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

// Parts are the guards directly within a combined one.
func (g Guard[F, M]) Parts() []Guard[F, M] { return slices.Clone(g.of) }
