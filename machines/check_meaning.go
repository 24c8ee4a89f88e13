package machines

import (
	"slices"
	"sort"

	"github.com/detent-dev/detent/transitions"
)

// checkMachine checks the declarations of the machine as a whole: inference, target, data, migrations, progress and records.
func checkMachine[F, M, E any](def *Definition[F, M, E], declared map[string]*State[F, M, E], found *Findings) {
	if def.Locate.Find == nil || len(def.Locate.States) == 0 {
		found.add(ErrMissingLocate, "machine "+def.Name, "give it Locate, with the states it may return")
	}
	for _, s := range def.Locate.States {
		if declared[s] == nil {
			found.undeclared(s, "Locate")
		}
	}
	if def.Target.Of == nil {
		found.add(ErrMissingTarget, "machine "+def.Name, "compute the target from the facts in Target")
	}
	if def.Memo.Encode == nil || def.Memo.Decode == nil {
		found.add(ErrMissingMemoCodec, "machine "+def.Name, "give Memo both Encode and Decode")
	}
	for _, old := range sorted(def.Migrations) {
		to := def.Migrations[old]
		if declared[to] == nil && !found.isUndeclared(to) {
			found.add(ErrUndeclaredMigration, "migration of "+old, "declare %q or correct the name", to)
		}
		if declared[old] != nil {
			found.add(ErrDuplicateState, "migration of "+old, "a state that is still declared needs no migration")
		}
	}
	if len(def.Progress.Unit) > maxUnit {
		found.add(ErrName, "progress unit "+def.Progress.Unit, "name the unit with at most %d characters", maxUnit)
	}
	for _, r := range def.Records {
		if r.Name == "" || r.Home == "" || r.Doc == "" {
			found.add(ErrIncompleteRecord, "record "+r.Name, "say its name, its home outside status and what it remembers")
		}
	}
}

// guards calls visit with every guard of the definition, its place, and whether a Choice evaluates it.
func guards[F, M, E any](def *Definition[F, M, E], visit func(where string, g transitions.Guard[F, M], picked bool)) {
	for i := range def.States {
		s := &def.States[i]
		if !s.While.IsZero() {
			visit("While of "+s.Name, s.While, false)
		}
		if s.Do != nil && !s.Do.Before.IsZero() {
			visit("Before of "+s.Name, s.Do.Before, false)
		}
	}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		if t.Choose != nil || !t.When.IsZero() {
			visit("transition "+t.Event+" from "+t.From, t.guard(), t.Choose != nil)
		}
	}
}

func checkGuards[F, M, E any](def *Definition[F, M, E], found *Findings) {
	texts := map[string][2]string{}
	guards(def, func(where string, g transitions.Guard[F, M], picked bool) {
		for _, l := range g.Leaves() {
			checkLeaf(l, where, picked, texts, found)
		}
		checkNegations(g, where, found)
	})
}

func checkLeaf[F, M any](l transitions.Guard[F, M], where string, picked bool, texts map[string][2]string, found *Findings) {
	at := where + " guard " + l.Name
	text := [2]string{l.Doc, l.Want}
	if old, seen := texts[l.Name]; seen && old == text && (l.Ask != nil || picked) {
		return // its texts were judged where it was first used
	}
	if !eventName.MatchString(l.Name) {
		found.add(ErrName, at, "name guards in kebab-case, at most 64 characters")
	}
	if l.Doc == "" {
		found.add(ErrMissingDoc, at, "say in one sentence when it says yes")
	}
	if l.Want == "" {
		found.add(ErrMissingWant, at, "state in Want the expectation that waitingFor shows while it does not say yes")
	}
	if l.Ask == nil && !picked {
		found.add(ErrMissingGuard, at, "give it Ask")
	}
	if old, seen := texts[l.Name]; seen && old != text {
		found.add(ErrOneNameTwoGuards, at, "another guard has this name and other texts; rename one of them")
	}
	texts[l.Name] = text
}

func checkNegations[F, M any](g transitions.Guard[F, M], where string, found *Findings) {
	if inner, ok := g.Negated(); ok {
		if g.Want == "" {
			found.add(ErrMissingWant, where+" guard "+g.Name, "a negation needs a Want that states the negated expectation")
		}
		checkNegations(inner, where, found)
		return
	}
	for _, part := range g.Parts() {
		checkNegations(part, where, found)
	}
}

func checkNeeds[F, M, E any](def *Definition[F, M, E], found *Findings) {
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
	guards(def, func(where string, g transitions.Guard[F, M], _ bool) { use(where, g.AllNeeds()) })
	for i := range def.States {
		if do := def.States[i].Do; do != nil {
			use("action of "+def.States[i].Name, do.Needs)
		}
	}
	use("target", def.Target.Needs)
	use("locate", def.Locate.Needs)
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
