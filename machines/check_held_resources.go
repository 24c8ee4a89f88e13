package machines

import "github.com/detent-dev/detent/states"

// checkHeldResources checks the held resources: each that is named is declared, acquired somewhere and released somewhere. Whether
// it is released on every path is not checked here: package verification follows the paths.
func checkHeldResources[F, D, E any](def *Definition[F, D, E], found *Findings) {
	declared, taken, released := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, h := range def.HeldResources {
		where := "held resource " + h.Name
		if !eventName.MatchString(h.Name) {
			found.add(ErrName, where, "name held resources in kebab-case, at most 64 characters")
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
				found.add(ErrUndeclaredHeldResource, where, "declare %q in HeldResources or correct the name", name)
			}
		}
	}
	kept := map[string]bool{}
	for i := range def.States {
		s := &def.States[i]
		use("state "+s.Name, s.Retains, kept)
		if len(s.Retains) > 0 && s.Kind != states.Rest && s.Kind != states.Hold {
			found.add(ErrMisplacedRetains, "state "+s.Name, "only a Rest or Hold keeps something on purpose; drop Retains")
		}
		if s.Action != nil {
			use("action of "+s.Name, s.Action.Acquires, taken)
		}
	}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		use("transition "+t.Event+" from "+t.From, t.Releases, released)
	}
	use("infer", def.Infer.Sees, kept)
	for _, h := range def.HeldResources {
		switch {
		case misspelled:
		case !taken[h.Name]:
			found.add(ErrUnusedHeldResource, "held resource "+h.Name, "name it in Acquires of the action that takes it, or drop it")
		case !released[h.Name]:
			found.add(ErrUnusedHeldResource, "held resource "+h.Name, "name it in Releases of the transitions whose guards observe that it was released")
		}
	}
}
