package machinetest

import (
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// site is a place of a machine where a guard is evaluated.
type site[F, D, E any] struct {
	kind  siteKind
	index int // into the definition's transitions or states
	state string
	// label names the place.
	label  string
	guard  transitions.Guard[F, D]
	choice *machines.Choice[F, D]
	leaves []leaf[F, D]
}

type siteKind int

const (
	edgeSite siteKind = iota
	invariantSite
	preconditionSite
)

// leaf is a guard that is not combined, with the needs of the guards that contain it.
type leaf[F, D any] struct {
	transitions.Guard[F, D]
	needs []transitions.Need
}

// sitesOf returns the places where the machine evaluates guards. An Invariant or Precondition that is Always is left out.
func sitesOf[F, D, E any](def *machines.Definition[F, D, E]) []site[F, D, E] {
	var out []site[F, D, E]
	add := func(s site[F, D, E]) {
		if s.kind != edgeSite && s.guard.Certain() {
			return
		}
		s.leaves = leavesOf(s.guard, nil)
		out = append(out, s)
	}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		s := site[F, D, E]{kind: edgeSite, index: i, state: t.From, label: edgeLabel(t.Event, t.From), guard: t.When, choice: t.Choose}
		if t.Choose != nil {
			s.guard = t.Choose.Guard
		}
		add(s)
	}
	for i := range def.States {
		s := &def.States[i]
		if !s.Invariant.IsZero() {
			add(site[F, D, E]{kind: invariantSite, index: i, state: s.Name, label: "Invariant of " + s.Name, guard: s.Invariant})
		}
		if s.Action != nil && !s.Action.Precondition.IsZero() {
			add(site[F, D, E]{kind: preconditionSite, index: i, state: s.Name, label: "Precondition of " + s.Name, guard: s.Action.Precondition})
		}
	}
	return out
}

func leavesOf[F, D any](g transitions.Guard[F, D], inherited []transitions.Need) []leaf[F, D] {
	needs := union(inherited, g.Needs)
	if !g.Combined() {
		return []leaf[F, D]{{Guard: g, needs: needs}}
	}
	var out []leaf[F, D]
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
func (s *site[F, D, E]) ask(n int, facts *F, data D) transitions.Verdict {
	switch {
	case s.choice != nil:
		v, _ := s.choice.Pick(facts, data)
		return v
	case n == whole:
		return s.guard.Verdict(facts, data)
	default:
		return s.leaves[n].Verdict(facts, data)
	}
}

// verdict evaluates one leaf, or the whole guard. ok is false if a fact was not requested.
func (s *site[F, D, E]) verdict(n int, facts *F, data D) (v transitions.Verdict, ok bool) {
	err := safely(func() { v = s.ask(n, facts, data) })
	return v, err == nil
}

// replace replaces the guard of the site.
func (s *site[F, D, E]) replace(def *machines.Definition[F, D, E], guard transitions.Guard[F, D]) {
	switch s.kind {
	case edgeSite:
		def.Transitions[s.index].When, def.Transitions[s.index].Choose = guard, nil
	case invariantSite:
		def.States[s.index].Invariant = guard
	case preconditionSite:
		def.States[s.index].Action.Precondition = guard
	}
}

// mutate changes the answer of one leaf.
func (s *site[F, D, E]) mutate(def *machines.Definition[F, D, E], n int, answer func(transitions.Answer) transitions.Answer) {
	if s.choice == nil {
		s.replace(def, s.guard.Mutated(access.Key{}, n, answer))
		return
	}
	pick := s.choice.Pick
	def.Transitions[s.index].Choose.Pick = func(facts *F, data D) (transitions.Verdict, D) {
		v, chosen := pick(facts, data)
		v.Answer = answer(v.Answer)
		return v, chosen
	}
}
