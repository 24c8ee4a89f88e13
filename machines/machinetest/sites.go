package machinetest

import (
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// site is a place of a machine where a guard is evaluated.
type site[F, M, E any] struct {
	kind  siteKind
	index int // into the definition's transitions or states
	state string
	// label names the place.
	label  string
	guard  transitions.Guard[F, M]
	choice *machines.Choice[F, M]
	leaves []leaf[F, M]
}

type siteKind int

const (
	edgeSite siteKind = iota
	whileSite
	beforeSite
)

// leaf is a guard that is not combined, with the needs of the guards that contain it.
type leaf[F, M any] struct {
	transitions.Guard[F, M]
	needs []transitions.Need
}

// sitesOf returns the places where the machine evaluates guards. A While or Before that is Always is left out.
func sitesOf[F, M, E any](def *machines.Definition[F, M, E]) []site[F, M, E] {
	var out []site[F, M, E]
	add := func(s site[F, M, E]) {
		if s.kind != edgeSite && s.guard.Certain() {
			return
		}
		s.leaves = leavesOf(s.guard, nil)
		out = append(out, s)
	}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		s := site[F, M, E]{kind: edgeSite, index: i, state: t.From, label: edgeLabel(t.Event, t.From), guard: t.When, choice: t.Choose}
		if t.Choose != nil {
			s.guard = t.Choose.Guard
		}
		add(s)
	}
	for i := range def.States {
		s := &def.States[i]
		if !s.While.IsZero() {
			add(site[F, M, E]{kind: whileSite, index: i, state: s.Name, label: "While of " + s.Name, guard: s.While})
		}
		if s.Do != nil && !s.Do.Before.IsZero() {
			add(site[F, M, E]{kind: beforeSite, index: i, state: s.Name, label: "Before of " + s.Name, guard: s.Do.Before})
		}
	}
	return out
}

func leavesOf[F, M any](g transitions.Guard[F, M], inherited []transitions.Need) []leaf[F, M] {
	needs := union(inherited, g.Needs)
	if !g.Combined() {
		return []leaf[F, M]{{Guard: g, needs: needs}}
	}
	var out []leaf[F, M]
	for _, part := range g.Parts() {
		out = append(out, leavesOf(part, needs)...)
	}
	return out
}

func edgeLabel(event, from string) string {
	if from == "" {
		return event
	}
	return event + " from " + from
}

// whole in place of the number of a leaf means the whole guard.
const whole = -1

// ask evaluates one leaf, or the whole guard. It panics on a fact that was not requested.
func (s *site[F, M, E]) ask(n int, facts *F, memo M) transitions.Verdict {
	switch {
	case s.choice != nil:
		v, _ := s.choice.Pick(facts, memo)
		return v
	case n == whole:
		return s.guard.Verdict(facts, memo)
	default:
		return s.leaves[n].Verdict(facts, memo)
	}
}

// verdict evaluates one leaf, or the whole guard. ok is false if a fact was not requested.
func (s *site[F, M, E]) verdict(n int, facts *F, memo M) (v transitions.Verdict, ok bool) {
	err := safely(func() { v = s.ask(n, facts, memo) })
	return v, err == nil
}

// replace replaces the guard of the site.
func (s *site[F, M, E]) replace(def *machines.Definition[F, M, E], guard transitions.Guard[F, M]) {
	switch s.kind {
	case edgeSite:
		def.Transitions[s.index].When, def.Transitions[s.index].Choose = guard, nil
	case whileSite:
		def.States[s.index].While = guard
	case beforeSite:
		def.States[s.index].Do.Before = guard
	}
}

// mutate changes the answer of one leaf.
func (s *site[F, M, E]) mutate(def *machines.Definition[F, M, E], n int, answer func(transitions.Answer) transitions.Answer) {
	if s.choice == nil {
		s.replace(def, s.guard.Mutated(n, answer))
		return
	}
	pick := s.choice.Pick
	def.Transitions[s.index].Choose.Pick = func(facts *F, memo M) (transitions.Verdict, M) {
		v, chosen := pick(facts, memo)
		v.Answer = answer(v.Answer)
		return v, chosen
	}
}
