package machinetest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// mutant is a machine with one defect, which a sufficient table detects.
type mutant[F, M, E any] struct {
	// items that are not covered while no row detects the mutant.
	items []string
	// text describes the defect.
	text string
	// add describes the kind of row that detects it.
	add string
	// state whose rows are affected; empty for all.
	state  string
	change func(*machines.Definition[F, M, E])
	// event of the edge that is missing, if that is the defect.
	event string
	// site and leaf that answer the opposite, if that is the defect.
	site *site[F, M, E]
	leaf int
	// possible limits the requirement to mutants that some facts of the table distinguish from the machine, and selects these
	// facts. Nil: the mutant must be detected in any case.
	possible func(facts *F, memo M) bool
}

// mutants returns all mutants that the table must detect.
func (x *examination[F, M, E]) mutants() []mutant[F, M, E] {
	return slices.Concat(x.droppedEdges(), x.droppedPlaces(), x.misjudgements(), x.swaps())
}

// misjudgements returns mutants in which one leaf of a guard answers the opposite, or always yes, or always no, as if it had
// been left out of an All or an Any. The last two require a row only if the table has facts on which they matter.
func (x *examination[F, M, E]) misjudgements() []mutant[F, M, E] {
	var out []mutant[F, M, E]
	for i := range x.sites {
		s := &x.sites[i]
		for n := range s.leaves {
			if s.leaves[n].Certain() {
				continue
			}
			opposite := x.misjudgement(s, n, "answer the opposite", transitions.Answer.Not)
			opposite.site, opposite.leaf = s, n
			out = append(out, opposite)
			for _, constant := range []transitions.Answer{transitions.Yes, transitions.No} {
				one := x.misjudgement(s, n, "always say "+constant.String(), func(transitions.Answer) transitions.Answer { return constant })
				one.possible = func(facts *F, memo M) bool {
					v, ok := s.verdict(n, facts, memo)
					return ok && v.Answer != constant
				}
				out = append(out, one)
			}
		}
	}
	return out
}

func (x *examination[F, M, E]) misjudgement(s *site[F, M, E], n int, how string, answer func(transitions.Answer) transitions.Answer) mutant[F, M, E] {
	return mutant[F, M, E]{
		items: []string{x.owner(s)}, state: s.state,
		text:   fmt.Sprintf("guard %s in %s could %s", s.leaves[n].Name, s.label, how),
		add:    fmt.Sprintf("add a row in state %s where %s hangs on %s alone", s.state, s.label, s.leaves[n].Name),
		change: func(d *machines.Definition[F, M, E]) { s.mutate(d, n, answer) },
	}
}

// owner returns the item that a site's mutants belong to.
func (x *examination[F, M, E]) owner(s *site[F, M, E]) string {
	if s.kind == edgeSite {
		return edgeItem(x.def.Transitions[s.index].Event, s.state)
	}
	return answerItem(s.label, transitions.Yes)
}

// droppedEdges returns mutants without one edge.
func (x *examination[F, M, E]) droppedEdges() []mutant[F, M, E] {
	var out []mutant[F, M, E]
	drop := func(event, from, to, when string, change func(*machines.Definition[F, M, E])) {
		out = append(out, mutant[F, M, E]{
			items: []string{edgeItem(event, from)}, state: from, change: change, event: event,
			text: fmt.Sprintf("edge %s to %s could be missing", edgeLabel(event, from), to),
			add:  fmt.Sprintf("add a row in state %s %s", from, when),
		})
	}
	for i, t := range x.def.Transitions {
		guard := t.When.Name
		if t.Choose != nil {
			guard = t.Choose.Guard.Name
		}
		drop(t.Event, t.From, t.To, "where "+guard+" says yes and no edge before it does", func(d *machines.Definition[F, M, E]) {
			d.Transitions = slices.Delete(d.Transitions, i, i+1)
		})
	}
	for i, s := range x.def.States {
		if s.OnTarget != "" && s.OnTarget != machines.CarryOn {
			drop(machines.EventTargetChanged, s.Name, s.OnTarget, "with an Attempt towards another target than that of its facts", func(d *machines.Definition[F, M, E]) {
				d.States[i].OnTarget = machines.CarryOn
			})
		}
		if s.Do != nil && s.Do.TurnBack != "" {
			drop(machines.EventTurnedBack, s.Name, s.Do.TurnBack, "where While says yes, no edge is taken and "+s.Do.Before.Name+" says no", func(d *machines.Definition[F, M, E]) {
				d.States[i].Do.Before = transitions.Always[F, M]()
			})
		}
	}
	return out
}

// droppedPlaces returns mutants whose Locate misses one state, or that lack one migration.
func (x *examination[F, M, E]) droppedPlaces() []mutant[F, M, E] {
	var out []mutant[F, M, E]
	places := x.def.Locate.States
	if x.owesLocating() {
		places = append(slices.Clone(places), machines.Locating)
	}
	for _, place := range places {
		add := "add a row without a State, or in one that its While denies, whose facts are those of " + place
		if place == machines.Locating {
			add = "add a row without a State where Locate cannot read the facts"
		}
		out = append(out, mutant[F, M, E]{
			items: []string{locatedItem(place)}, event: machines.EventLocated,
			text: "Locate could miss " + place, add: add,
			change: func(d *machines.Definition[F, M, E]) {
				d.Locate.Find = missing(d.Locate.Find, place, x.def.Locate.States[0])
			},
		})
	}
	for _, old := range slices.Sorted(maps.Keys(x.def.Migrations)) {
		to := x.def.Migrations[old]
		out = append(out, mutant[F, M, E]{
			items: []string{edgeItem(machines.EventMigrated, old)}, state: old, event: machines.EventMigrated,
			text: fmt.Sprintf("the migration of %s to %s could be missing", old, to), add: fmt.Sprintf("add a row in state %s", old),
			change: func(d *machines.Definition[F, M, E]) { delete(d.Migrations, old) },
		})
	}
	return out
}

// missing returns a Find that misses the place. Instead of not knowing, it returns another.
func missing[F, M any](
	find func(*F) (machines.Place[M], transitions.Verdict), place, other string,
) func(*F) (machines.Place[M], transitions.Verdict) {
	return func(facts *F) (machines.Place[M], transitions.Verdict) {
		found, verdict := find(facts)
		switch {
		case place == machines.Locating && verdict.Answer != transitions.Yes:
			return machines.Place[M]{State: other}, transitions.Allow()
		case verdict.Answer == transitions.Yes && found.State == place:
			return machines.Place[M]{}, transitions.Verdict{}
		}
		return found, verdict
	}
}

// swaps returns mutants in which two edges of a state exchange their places. They require a row only where the order can
// matter: both guards say yes, or the first is unknown and the second says yes.
func (x *examination[F, M, E]) swaps() []mutant[F, M, E] {
	var out []mutant[F, M, E]
	edges := map[string][]*site[F, M, E]{}
	for i := range x.sites {
		if s := &x.sites[i]; s.kind == edgeSite {
			edges[s.state] = append(edges[s.state], s)
		}
	}
	for _, state := range x.def.States {
		of := edges[state.Name]
		for i, first := range of {
			for _, second := range of[i+1:] {
				out = append(out, x.swap(first, second))
			}
		}
	}
	return out
}

func (x *examination[F, M, E]) swap(first, second *site[F, M, E]) mutant[F, M, E] {
	one, other := &x.def.Transitions[first.index], &x.def.Transitions[second.index]
	return mutant[F, M, E]{
		items: []string{x.owner(first), x.owner(second)}, state: first.state,
		text: fmt.Sprintf("edges %s and %s of %s could change places", one.Event, other.Event, first.state),
		change: func(d *machines.Definition[F, M, E]) {
			d.Transitions[first.index], d.Transitions[second.index] = d.Transitions[second.index], d.Transitions[first.index]
		},
		possible: func(facts *F, memo M) bool {
			b, ok := second.verdict(whole, facts, memo)
			if !ok || b.Answer != transitions.Yes {
				return false
			}
			a, ok := first.verdict(whole, facts, memo)
			return ok && (a.Answer == transitions.Yes || a.Answer == transitions.Unknown && !other.EvenIfUnknown)
		},
	}
}
