package verification

import (
	"errors"
	"fmt"
	"slices"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Machine verifies a compiled machine over the domains, if any. The time grows with the number of facts: about half a
// millisecond for each facts of a machine with twenty states.
func Machine[F, D, E any](machine *machines.Machine[F, D, E], domains ...domain.Domain[F, D]) Report {
	v := &verifier[F, D, E]{machine: machine, def: machine.Definition(), states: map[string]*machines.State[F, D, E]{}}
	for i := range v.def.States {
		v.states[v.def.States[i].Name] = &v.def.States[i]
	}
	for _, s := range machine.Graph().States {
		if s.OnlyDeletion {
			v.onlyDeletion = append(v.onlyDeletion, s.Name)
		}
	}
	v.results = map[Check]*Result{
		Declaration: {Of: "states and transitions"},
		DeadEnd:     {Of: "states"}, Livelock: {Of: "cycles without a wait"}, Overlap: {Of: "exits of states in facts"},
		Gap: {Of: "states in facts"}, Target: {Of: "states not at rest"}, Release: {Of: "held resources"}, Coverage: {Of: "transitions"},
	}
	for i := range domains {
		v.judge(&domains[i])
	}
	v.warnings()
	v.deadEnds()
	v.cycles()
	v.overlaps()
	v.targets()
	v.heldResources()
	v.coverage()
	return v.report()
}

// verifier is the verification of one machine.
type verifier[F, D, E any] struct {
	machine *machines.Machine[F, D, E]
	def     machines.Definition[F, D, E]
	states  map[string]*machines.State[F, D, E]
	// onlyDeletion are the states that nothing but a deletion leads to.
	onlyDeletion []string
	results      map[Check]*Result
	// facts is the number of facts that were evaluated.
	facts int
	// yes are the transitions that said yes on some facts, by index.
	yes map[int]bool
	// together are the pairs of transitions that said yes together, with the name of the first such facts.
	together map[[2]int]string
	// reported are the findings that were made already, by what they concern.
	reported map[string]bool
}

func (v *verifier[F, D, E]) report() Report {
	graph := v.machine.Graph()
	r := Report{Machine: graph.Name, Digest: graph.Digest, States: len(v.def.States), Transitions: len(v.def.Transitions), Facts: v.facts}
	for _, check := range []Check{Declaration, DeadEnd, Livelock, Overlap, Gap, Target, Release, Coverage} {
		one := *v.results[check]
		one.Check = check
		if v.facts == 0 && (check == Overlap || check == Gap || check == Coverage) {
			continue // not checked without a domain
		}
		if one.Findings == nil {
			one.Findings = []Finding{}
		}
		if one.Notes == nil {
			one.Notes = []Finding{}
		}
		r.Results = append(r.Results, one)
	}
	return r
}

// warnings reports what Compile warns of.
func (v *verifier[F, D, E]) warnings() {
	v.results[Declaration].Looked = len(v.def.States) + len(v.def.Transitions)
	for _, w := range v.machine.Warnings() {
		if errors.Is(w, machines.ErrCostlyFirst) {
			r := v.results[Declaration]
			r.Notes = append(r.Notes, Finding{Where: w.Where, What: w.Is.Error() + ": " + w.Remedy})
			continue
		}
		v.find(Declaration, w.Where, w.Is.Error(), w.Remedy)
	}
}

func (v *verifier[F, D, E]) find(check Check, where, what, remedy string) {
	r := v.results[check]
	r.Findings = append(r.Findings, Finding{Where: where, What: what, Remedy: remedy})
}

// findOnce reports a finding once, although many facts may show it.
func (v *verifier[F, D, E]) findOnce(check Check, where, what, remedy string) {
	if v.reported == nil {
		v.reported = map[string]bool{}
	}
	if about := string(check) + where; !v.reported[about] {
		v.reported[about] = true
		v.find(check, where, what, remedy)
	}
}

func (v *verifier[F, D, E]) note(check Check, where, what string) {
	r := v.results[check]
	r.Notes = append(r.Notes, Finding{Where: where, What: what})
}

// exits returns the indices of a state's transitions, in order of declaration.
func (v *verifier[F, D, E]) exits(state string) (out []int) {
	for i := range v.def.Transitions {
		if v.def.Transitions[i].From == state {
			out = append(out, i)
		}
	}
	return out
}

// guard returns the guard of a transition. The guard of a Choice has a name and no Evaluate.
func guard[F, D any](t *machines.Transition[F, D]) transitions.Guard[F, D] {
	if t.Choose != nil {
		return t.Choose.Guard
	}
	return t.When
}

// end reports whether a lifecycle may stay in the state for good.
func end[F, D, E any](s *machines.State[F, D, E]) bool {
	return s.Kind == states.Rest || s.Kind == states.Hold && s.HoldReason == states.Planned
}

// reached returns the states that edges lead to from some states, including these.
func reached(from []string, edges map[string][]string) map[string]bool {
	seen := map[string]bool{}
	for queue := slices.Clone(from); len(queue) > 0; queue = queue[1:] {
		if s := queue[0]; !seen[s] {
			seen[s] = true
			queue = append(queue, edges[s]...)
		}
	}
	return seen
}

// declared returns the declared edges of each state. A user also leaves a Hold by changing the target.
func (v *verifier[F, D, E]) declared() map[string][]string {
	edges := map[string][]string{}
	for i := range v.def.Transitions {
		t := &v.def.Transitions[i]
		edges[t.From] = append(edges[t.From], t.To)
	}
	for name, s := range v.states {
		if s.Kind == states.Hold && s.OnTargetChange != machines.KeepAttempt {
			edges[name] = append(edges[name], s.OnTargetChange)
		}
	}
	return edges
}

func (v *verifier[F, D, E]) deadEnds() {
	edges := v.declared()
	for i := range v.def.States {
		s := &v.def.States[i]
		v.results[DeadEnd].Looked++
		found := false
		for name := range reached([]string{s.Name}, edges) {
			found = found || end(v.states[name])
		}
		if !found {
			v.find(DeadEnd, "state "+s.Name, "no declared transitions lead from here to a Rest or a planned Hold",
				"declare the transition that ends it, or make it a planned Hold that a user ends")
		}
	}
}

// targets checks where a changed target leads from every state that is not at rest.
func (v *verifier[F, D, E]) targets() {
	edges := v.declared()
	for i := range v.def.States {
		s := &v.def.States[i]
		if s.Kind == states.Rest || slices.Contains(v.onlyDeletion, s.Name) {
			continue
		}
		v.results[Target].Looked++
		where := "state " + s.Name
		if s.OnTargetChange != machines.KeepAttempt {
			if !v.anyOf(reached([]string{s.OnTargetChange}, edges), v.decides) {
				v.find(Target, where, fmt.Sprintf("a changed target leads to %s, and no state after that decides anything", s.OnTargetChange),
					"name in OnTargetChange a state that decides: a Rest, or one with transitions to two states")
			}
			continue
		}
		if s.Kind == states.Hold {
			v.find(Target, where, "it waits for a user and does not evaluate the target that the user changes", "name in OnTargetChange the state that evaluates the new target")
			continue
		}
		if !v.anyOf(reached(edges[s.Name], edges), v.looks) {
			v.find(Target, where, "the attempt continues after a changed target, and no state that follows evaluates it",
				"name in OnTargetChange of this state, or of one that follows, the state that evaluates the new target")
		}
	}
}

func (v *verifier[F, D, E]) anyOf(names map[string]bool, is func(*machines.State[F, D, E]) bool) bool {
	for name := range names {
		if is(v.states[name]) {
			return true
		}
	}
	return false
}

// decides reports whether the facts determine the next state.
func (v *verifier[F, D, E]) decides(s *machines.State[F, D, E]) bool {
	if s.Kind == states.Rest {
		return true
	}
	to := map[string]bool{}
	for _, i := range v.exits(s.Name) {
		to[v.def.Transitions[i].To] = true
	}
	return s.Kind != states.Hold && len(to) > 1
}

// looks reports whether a changed target is observed in the state.
func (v *verifier[F, D, E]) looks(s *machines.State[F, D, E]) bool {
	return s.Kind == states.Rest || s.OnTargetChange != machines.KeepAttempt
}

// coverage reports the transitions that no facts of the domain make say yes.
func (v *verifier[F, D, E]) coverage() {
	if v.facts == 0 {
		return
	}
	for i := range v.def.Transitions {
		v.results[Coverage].Looked++
		if t := &v.def.Transitions[i]; !v.yes[i] {
			v.find(Coverage, "transition "+t.Event+" from "+t.From, "it says yes in no facts of the domain, so that it was not checked",
				"add the values of the facts that make it say yes, or drop it")
		}
	}
}
