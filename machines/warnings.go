package machines

import (
	"errors"
	"slices"

	"github.com/detent-dev/detent/states"
)

// Kinds of warnings, in addition to those of defects.
var (
	ErrEndlessWait = errors.New("a Wait that is always true does not end when what it waits for vanishes")
	ErrCostlyFirst = errors.New("a costly transition before a cheap one")
)

// Warnings returns a finding for each part of the declaration that is legal and probably a mistake.
func (m *Machine[F, D, E]) Warnings() []Finding { return slices.Clone(m.warnings) }

// costlyPrecedesCheap returns a warning for each transition without needs that follows one with needs in the same state. While
// the answer to the costly fact is missing, the cheap transition is blocked.
func costlyPrecedesCheap[F, D, E any](def *Definition[F, D, E]) []Finding {
	var out []Finding
	costly := map[string]string{}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		switch {
		case len(t.guard().AllNeeds()) > 0:
			costly[t.From] = t.Event
		case costly[t.From] != "" && !t.EvenIfUnknown:
			out = append(out, Finding{
				Is: ErrCostlyFirst, Where: "state " + t.From,
				Remedy: costly[t.From] + " costs a call and blocks " + t.Event + ", which costs none: put the cheap edge first or mark it EvenIfUnknown",
			})
		}
	}
	return out
}

// waitsForNothing returns a warning for each Wait whose invariant is Always: if what it waits for is deleted, such as a child,
// the lifecycle stays in the state until its deadline and after it.
func waitsForNothing[F, D, E any](def *Definition[F, D, E]) []Finding {
	var out []Finding
	for i := range def.States {
		s := &def.States[i]
		if s.Name != Inferring && s.Kind == states.Wait && s.Invariant.Certain() && !s.Invariant.Intended() {
			out = append(out, Finding{
				Is: ErrEndlessWait, Where: "state " + s.Name,
				Remedy: "declare in Invariant when it is still true, or state with AlwaysBecause why its transitions suffice",
			})
		}
	}
	return out
}
