package machinetest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// mutant is a machine with one defect, which a sufficient table detects.
type mutant[F, D, E any] struct {
	// items that are not covered while no row detects the mutant.
	items []string
	// text describes the defect.
	text string
	// add describes the kind of row that detects it.
	add string
	// state whose rows are affected; empty for all.
	state  string
	change func(*machines.Definition[F, D, E])
	// event of the edge that is missing, if that is the defect.
	event string
	// site and leaf that answer the opposite, if that is the defect.
	site *site[F, D, E]
	leaf int
	// possible limits the requirement to mutants that some facts of the table distinguish from the machine, and selects these
	// facts. Nil: the mutant must be detected in any case.
	possible func(facts *F, data D) bool
}

// mutants returns all mutants that the table must detect.
func (x *examination[F, D, E]) mutants() []mutant[F, D, E] {
	return slices.Concat(x.droppedEdges(), x.droppedInferences(), x.misjudgements(), x.swaps())
}

// misjudgements returns mutants in which one leaf of a guard answers the opposite, or always yes, or always no, as if it had
// been left out of an All or an Any. The last two require a row only if the table has facts on which they matter.
func (x *examination[F, D, E]) misjudgements() []mutant[F, D, E] {
	var out []mutant[F, D, E]
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
				one.possible = func(facts *F, data D) bool {
					v, ok := s.verdict(n, facts, data)
					return ok && v.Answer != constant
				}
				out = append(out, one)
			}
		}
	}
	return out
}

func (x *examination[F, D, E]) misjudgement(s *site[F, D, E], n int, how string, answer func(transitions.Answer) transitions.Answer) mutant[F, D, E] {
	return mutant[F, D, E]{
		items: []string{x.owner(s)}, state: s.state,
		text:   fmt.Sprintf("guard %s in %s could %s", s.leaves[n].Name, s.label, how),
		add:    fmt.Sprintf("add a row in state %s where %s hangs on %s alone", s.state, s.label, s.leaves[n].Name),
		change: func(d *machines.Definition[F, D, E]) { s.mutate(d, n, answer) },
	}
}

// owner returns the item that a site's mutants belong to.
func (x *examination[F, D, E]) owner(s *site[F, D, E]) string {
	if s.kind == edgeSite {
		return edgeItem(x.def.Transitions[s.index].Event, s.state)
	}
	return answerItem(s.label, transitions.Yes)
}

// droppedEdges returns mutants without one edge.
func (x *examination[F, D, E]) droppedEdges() []mutant[F, D, E] {
	var out []mutant[F, D, E]
	drop := func(event, from, to, when string, change func(*machines.Definition[F, D, E])) {
		out = append(out, mutant[F, D, E]{
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
		drop(t.Event, t.From, t.To, "where "+guard+" says yes and no edge before it does", func(d *machines.Definition[F, D, E]) {
			d.Transitions = slices.Delete(d.Transitions, i, i+1)
		})
	}
	for i, s := range x.def.States {
		if s.OnTargetChange != "" && s.OnTargetChange != machines.KeepAttempt {
			drop(machines.EventTargetChanged, s.Name, s.OnTargetChange, "with an Attempt towards another target than that of its facts", func(d *machines.Definition[F, D, E]) {
				d.States[i].OnTargetChange = machines.KeepAttempt
			})
		}
		if s.Action != nil && s.Action.OnPreconditionFailed != "" {
			drop(machines.EventPreconditionFailed, s.Name, s.Action.OnPreconditionFailed, "where Invariant says yes, no edge is taken and "+s.Action.Precondition.Name+" says no", func(d *machines.Definition[F, D, E]) {
				d.States[i].Action.Precondition = transitions.Always[F, D]()
			})
		}
	}
	return out
}

// droppedInferences returns mutants whose Infer misses one state, or that lack one migration.
func (x *examination[F, D, E]) droppedInferences() []mutant[F, D, E] {
	var out []mutant[F, D, E]
	places := x.def.Infer.States
	if x.owesInferring() {
		places = append(slices.Clone(places), machines.Inferring)
	}
	for _, place := range places {
		add := "add a row without a State, or in one that its Invariant denies, whose facts are those of " + place
		if place == machines.Inferring {
			add = "add a row without a State where Infer cannot read the facts"
		}
		out = append(out, mutant[F, D, E]{
			items: []string{inferredItem(place)}, event: machines.EventInferred,
			text: "Infer could miss " + place, add: add,
			change: func(d *machines.Definition[F, D, E]) {
				d.Infer.Find = missing(d.Infer.Find, place, x.def.Infer.States[0])
			},
		})
	}
	for _, old := range slices.Sorted(maps.Keys(x.def.Migrations)) {
		to := x.def.Migrations[old]
		out = append(out, mutant[F, D, E]{
			items: []string{edgeItem(machines.EventMigrated, old)}, state: old, event: machines.EventMigrated,
			text: fmt.Sprintf("the migration of %s to %s could be missing", old, to), add: fmt.Sprintf("add a row in state %s", old),
			change: func(d *machines.Definition[F, D, E]) { delete(d.Migrations, old) },
		})
	}
	return out
}

// missing returns a Find that misses the place. Instead of not knowing, it returns another.
func missing[F, D any](
	find func(*F) (machines.InferredState[D], transitions.Verdict), place, other string,
) func(*F) (machines.InferredState[D], transitions.Verdict) {
	return func(facts *F) (machines.InferredState[D], transitions.Verdict) {
		found, verdict := find(facts)
		switch {
		case place == machines.Inferring && verdict.Answer != transitions.Yes:
			return machines.InferredState[D]{State: other}, transitions.Allow()
		case verdict.Answer == transitions.Yes && found.State == place:
			return machines.InferredState[D]{}, transitions.Verdict{}
		}
		return found, verdict
	}
}

// swaps returns mutants in which two edges of a state exchange their places. They require a row only where the order can
// matter: both guards say yes, or the first is unknown and the second says yes.
func (x *examination[F, D, E]) swaps() []mutant[F, D, E] {
	var out []mutant[F, D, E]
	edges := map[string][]*site[F, D, E]{}
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

func (x *examination[F, D, E]) swap(first, second *site[F, D, E]) mutant[F, D, E] {
	one, other := &x.def.Transitions[first.index], &x.def.Transitions[second.index]
	return mutant[F, D, E]{
		items: []string{x.owner(first), x.owner(second)}, state: first.state,
		text: fmt.Sprintf("edges %s and %s of %s could change places", one.Event, other.Event, first.state),
		change: func(d *machines.Definition[F, D, E]) {
			d.Transitions[first.index], d.Transitions[second.index] = d.Transitions[second.index], d.Transitions[first.index]
		},
		possible: func(facts *F, data D) bool {
			b, ok := second.verdict(whole, facts, data)
			if !ok || b.Answer != transitions.Yes {
				return false
			}
			a, ok := first.verdict(whole, facts, data)
			return ok && (a.Answer == transitions.Yes || a.Answer == transitions.Unknown && !other.EvenIfUnknown)
		},
	}
}
