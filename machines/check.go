package machines

import (
	"regexp"
)

var (
	stateName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}$`)
	eventName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
)

// IsName reports whether the name is in kebab-case and has at most 64 characters, as names of machines, lifecycles, events, guards,
// actions and records are.
func IsName(name string) bool { return eventName.MatchString(name) }

// check adds every structural defect of the definition. A finding that may follow from another one is left out until that one
// is fixed: a misspelled state makes others unreachable, and a misspelled need leaves a declared one unused.
func check[F, D, E any](def *Definition[F, D, E], found *Findings) {
	if !eventName.MatchString(def.Name) {
		found.add(ErrName, "machine "+def.Name, "name the machine in kebab-case, at most 64 characters")
	}
	if def.Doc == "" {
		found.add(ErrMissingDoc, "machine "+def.Name, "say in one sentence what the machine is for")
	}
	declared := checkStates(def, found)
	checkTransitions(def, declared, found)
	checkReach(def, declared, found)
	checkWaysOut(def, declared, found)
	checkMachine(def, declared, found)
	checkGuards(def, found)
	checkNeeds(def, found)
	checkHeldResources(def, found)
	checkDeletion(def, declared, found)
}

// checkMachine checks the declarations of the machine as a whole: inference, target, data, migrations, progress and records.
func checkMachine[F, D, E any](def *Definition[F, D, E], declared map[string]*State[F, D, E], found *Findings) {
	if def.Infer.Find == nil || len(def.Infer.States) == 0 {
		found.add(ErrMissingInference, "machine "+def.Name, "give it Infer, with the states it may return")
	}
	for _, s := range def.Infer.States {
		if declared[s] == nil {
			found.undeclared(s, "Infer")
		}
	}
	if def.Target == nil {
		found.add(ErrMissingTarget, "machine "+def.Name, "compute the target from the facts in Target")
	}
	if def.Data.Encode == nil || def.Data.Decode == nil {
		found.add(ErrMissingDataCodec, "machine "+def.Name, "give Data both Encode and Decode")
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
	checkRecords(def, found)
}

func checkRecords[F, D, E any](def *Definition[F, D, E], found *Findings) {
	seen := map[string]bool{}
	for _, r := range def.Records {
		where := "record " + r.Name
		switch {
		case r.Name == "" || r.Home == "" || r.Doc == "":
			found.add(ErrIncompleteRecord, where, "say its name, its home outside status and what it remembers")
		case !IsName(r.Name):
			found.add(ErrName, where, "name records in kebab-case, at most 64 characters")
		case seen[r.Name]:
			found.add(ErrDuplicateRecord, where, "declare it once")
		}
		seen[r.Name] = true
	}
}
