package machines

import (
	"slices"
	"sort"

	"github.com/detent-dev/detent/transitions"
)

// guards calls visit with every guard of the definition, its place, and whether a Choice evaluates it.
func guards[F, D, E any](def *Definition[F, D, E], visit func(where string, g transitions.Guard[F, D], picked bool)) {
	for i := range def.States {
		s := &def.States[i]
		if !s.Invariant.IsZero() {
			visit("Invariant of "+s.Name, s.Invariant, false)
		}
		if s.Action != nil && !s.Action.Precondition.IsZero() {
			visit("Precondition of "+s.Name, s.Action.Precondition, false)
		}
	}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		if t.Choose != nil || !t.When.IsZero() {
			visit("transition "+t.Event+" from "+t.From, t.guard(), t.Choose != nil)
		}
	}
}

func checkGuards[F, D, E any](def *Definition[F, D, E], found *Findings) {
	texts := map[string][2]string{}
	guards(def, func(where string, g transitions.Guard[F, D], picked bool) {
		for _, l := range g.Leaves() {
			checkLeaf(l, where, picked, texts, found)
		}
		checkNegations(g, where, found)
	})
}

func checkLeaf[F, D any](l transitions.Guard[F, D], where string, picked bool, texts map[string][2]string, found *Findings) {
	at := where + " guard " + l.Name
	text := [2]string{l.Doc, l.Expected}
	if old, seen := texts[l.Name]; seen && old == text && (l.Evaluate != nil || picked) {
		return // its texts were judged where it was first used
	}
	if !eventName.MatchString(l.Name) {
		found.add(ErrName, at, "name guards in kebab-case, at most 64 characters")
	}
	if l.Doc == "" {
		found.add(ErrMissingDoc, at, "say in one sentence when it says yes")
	}
	if l.Expected == "" {
		found.add(ErrMissingExpected, at, "state in Expected the expectation that waitingFor shows while it does not say yes")
	}
	if l.Evaluate == nil && !picked {
		found.add(ErrMissingGuard, at, "give it Evaluate")
	}
	if old, seen := texts[l.Name]; seen && old != text {
		found.add(ErrOneNameTwoGuards, at, "another guard has this name and other texts; rename one of them")
	}
	texts[l.Name] = text
}

func checkNegations[F, D any](g transitions.Guard[F, D], where string, found *Findings) {
	if inner, ok := g.Negated(); ok {
		if g.Expected == "" {
			found.add(ErrMissingExpected, where+" guard "+g.Name, "a negation needs an Expected that states the negated expectation")
		}
		checkNegations(inner, where, found)
		return
	}
	for _, part := range g.Parts() {
		checkNegations(part, where, found)
	}
}

func checkNeeds[F, D, E any](def *Definition[F, D, E], found *Findings) {
	declared := map[transitions.Need]bool{}
	used := map[transitions.Need]bool{}
	for _, n := range def.Needs {
		declared[n.Name] = true
		if !eventName.MatchString(string(n.Name)) {
			found.add(ErrName, "need "+string(n.Name), "name needs in kebab-case, at most 64 characters")
		}
		if n.Doc == "" {
			found.add(ErrMissingDoc, "need "+string(n.Name), "say what is requested from which system")
		}
	}
	misspelled := false
	use := func(where string, needs []transitions.Need) {
		for _, n := range needs {
			used[n] = true
			if !declared[n] {
				misspelled = true
				found.add(ErrUndeclaredNeed, where, "declare %q in Needs", n)
			}
		}
	}
	guards(def, func(where string, g transitions.Guard[F, D], _ bool) { use(where, g.AllNeeds()) })
	for i := range def.States {
		if do := def.States[i].Action; do != nil {
			use("action of "+def.States[i].Name, do.Needs)
		}
	}
	checkResolvedBy(def, use, found)
	use("target", def.TargetNeeds)
	use("infer", def.Infer.Needs)
	use("progress", def.Progress.Needs)
	unused := []string{}
	for n := range declared {
		if !used[n] && !misspelled {
			unused = append(unused, string(n))
		}
	}
	sort.Strings(unused)
	for _, n := range slices.Compact(unused) {
		found.add(ErrUnusedNeed, "need "+n, "drop it, or declare it where it is read")
	}
}

// checkResolvedBy checks that a transition out of a state reads the fact that shows what its effects did: otherwise the state would
// end on a guess.
func checkResolvedBy[F, D, E any](def *Definition[F, D, E], use func(string, []transitions.Need), found *Findings) {
	for i := range def.States {
		s := &def.States[i]
		if s.Action == nil || s.Action.ResolvedBy == "" {
			continue
		}
		need := s.Action.ResolvedBy
		if !slices.Contains(s.Action.Needs, need) {
			use("outcome of "+s.Name, []transitions.Need{need})
		}
		exits := slices.DeleteFunc(slices.Clone(def.Transitions), func(t Transition[F, D]) bool { return t.From != s.Name })
		observed := slices.ContainsFunc(exits, func(t Transition[F, D]) bool { return slices.Contains(t.guard().AllNeeds(), need) })
		if len(exits) > 0 && !observed { // a state without exits is a finding of its own
			found.add(ErrResolvedBy, "action of "+s.Name, "no transition from %s reads %s; let the guard of the transition that follows the effects read it", s.Name, need)
		}
	}
}
