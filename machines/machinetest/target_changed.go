package machinetest

import "github.com/detent-dev/detent/machines"

// TargetChanged returns the rows of the target-changed transitions: one for each state that a changed target leaves, with the
// given facts and an attempt towards another target. The facts must contain the target. A state whose persisted data must not be
// empty needs a row of its own.
func TargetChanged[F, D, E any](machine *machines.Machine[F, D, E], facts F) []Row[F, D, E] {
	var rows []Row[F, D, E]
	for _, e := range machine.Graph().Edges {
		if e.Class != machines.TargetChanged {
			continue
		}
		rows = append(rows, Row[F, D, E]{
			Name: "another target in " + e.From, State: e.From, Attempt: "another target", Facts: facts,
			Want: Want[D, E]{Event: e.Event, To: e.To},
		})
	}
	return rows
}
