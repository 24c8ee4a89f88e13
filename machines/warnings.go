package machines

import (
	"slices"

	"github.com/detent-dev/detent/states"
)

// Warnings are doubtful but legal parts of the declaration, in words.
func (m *Machine[F, M, E]) Warnings() []string { return slices.Clone(m.warnings) }

// costlyBeforeCheap warns of edges whose guard costs a call although a later edge of the same state costs none:
// while the call is unanswered, the cheap edge is blocked.
func costlyBeforeCheap[F, M, E any](def *Definition[F, M, E]) []string {
	var out []string
	costly := map[string]string{}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		switch {
		case len(t.guard().AllNeeds()) > 0:
			costly[t.From] = t.Event
		case costly[t.From] != "" && !t.EvenIfUnknown:
			out = append(out, "state "+t.From+": "+costly[t.From]+" costs a call and blocks "+t.Event+", which costs none: put the cheap edge first or mark it EvenIfUnknown")
		}
	}
	return out
}

// waitsForNothing warns of a Wait whose invariant is Always: when what it waits for vanishes, such as a child that is deleted, the
// lifecycle stays there until its deadline and after it.
func waitsForNothing[F, M, E any](def *Definition[F, M, E]) []string {
	var out []string
	for i := range def.States {
		s := &def.States[i]
		if s.Name != Locating && s.Kind == states.Wait && s.While.Certain() && !s.While.Intended() {
			out = append(out, "state "+s.Name+": a Wait that is always true does not end when what it waits for vanishes: "+
				"say in While when it is still true, or state with AlwaysBecause why its transitions suffice")
		}
	}
	return out
}
