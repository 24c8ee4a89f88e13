package machines

import "github.com/detent-dev/detent/states"

// checkHoldings checks the held resources: each that is named is declared, acquired somewhere and released somewhere. Whether
// it is released on every path is not checked here: package verification follows the paths.
func checkHoldings[F, M, E any](def *Definition[F, M, E], found *Findings) {
	declared, taken, released := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, h := range def.Holdings {
		where := "holding " + h.Name
		if !eventName.MatchString(h.Name) {
			found.add(ErrName, where, "name holdings in kebab-case, at most 64 characters")
		}
		if h.Doc == "" {
			found.add(ErrMissingDoc, where, "say what is held, and what it costs while it is")
		}
		declared[h.Name] = true
	}
	misspelled := false
	use := func(where string, names []string, as map[string]bool) {
		for _, name := range names {
			as[name] = true
			if !declared[name] {
				misspelled = true
				found.add(ErrUndeclaredHolding, where, "declare %q in Holdings or correct the name", name)
			}
		}
	}
	kept := map[string]bool{}
	for i := range def.States {
		s := &def.States[i]
		use("state "+s.Name, s.Keeps, kept)
		if len(s.Keeps) > 0 && s.Kind != states.Rest && s.Kind != states.Hold {
			found.add(ErrMisplacedKeeps, "state "+s.Name, "only a Rest or Hold keeps something on purpose; drop Keeps")
		}
		if s.Do != nil {
			use("action of "+s.Name, s.Do.Acquires, taken)
		}
	}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		use("transition "+t.Event+" from "+t.From, t.Releases, released)
	}
	use("locate", def.Locate.Sees, kept)
	for _, h := range def.Holdings {
		switch {
		case misspelled:
		case !taken[h.Name]:
			found.add(ErrUnusedHolding, "holding "+h.Name, "name it in Acquires of the action that takes it, or drop it")
		case !released[h.Name]:
			found.add(ErrUnusedHolding, "holding "+h.Name, "name it in Releases of the transitions whose guards observe that it was released")
		}
	}
}
