package machines

import (
	"maps"
	"slices"

	"github.com/detent-dev/detent/internal/access"
)

// Definition returns a copy of what the machine was compiled from, with the defaults filled in. The caller may modify it.
func (m *Machine[F, D, E]) Definition() Definition[F, D, E] {
	def := m.def
	def.States = slices.Clone(def.States[:len(def.States)-1]) // without Inferring
	for i := range def.States {
		if do := def.States[i].Action; do != nil {
			own := *do
			def.States[i].Action = &own
		}
	}
	def.Transitions = slices.Clone(def.Transitions)
	for i := range def.Transitions {
		if choice := def.Transitions[i].Choose; choice != nil {
			own := *choice
			def.Transitions[i].Choose = &own
		}
	}
	def.Needs, def.Records, def.HeldResources = slices.Clone(def.Needs), slices.Clone(def.Records), slices.Clone(def.HeldResources)
	def.Infer.States = slices.Clone(def.Infer.States)
	def.Migrations = maps.Clone(def.Migrations)
	return def
}

// Mutant returns the machine with a changed definition that is not validated, for tests of test coverage. Its graph is
// unchanged, so that an added transition is rejected. A mutant must not reconcile objects.
func (m *Machine[F, D, E]) Mutant(_ access.Key, change func(*Definition[F, D, E])) *Machine[F, D, E] {
	def := m.Definition()
	change(&def)
	mutant := assemble(def)
	mutant.graph, mutant.legality = m.graph, m.legality
	return mutant
}
