// Package catalogue describes machines so that they can be found by name, drawn (alone or with the state of an object), documented,
// verified and replayed.
package catalogue

import (
	"fmt"
	"strings"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/verification"
	"github.com/detent-dev/detent/runtime/journal"
)

//go:generate go run ../../hack/docs ../../docs/machines

// Machine is one machine of a catalogue.
type Machine struct {
	// Graph of the machine.
	Graph machines.Graph
	// Lifecycle is the name that the status of an object has for its state on the machine. Optional.
	Lifecycle string
	// Replay repeats the decisions of a journal.
	Replay journal.Machine
	// Verify verifies the machine over its domains. It takes seconds.
	Verify func() (verification.Report, error)
}

// Of compiles a machine for a catalogue. domains returns the domains over which it is verified; restore sets the facts that a
// journal does not contain, and is optional.
func Of[F, D, E any](definition machines.Definition[F, D, E], domains func() ([]domain.Domain[F, D], error), restore func(*F)) (Machine, error) {
	machine, err := machines.Compile(definition)
	if err != nil {
		return Machine{}, fmt.Errorf("compiling machine %s: %w", definition.Name, err)
	}
	return Machine{
		Graph: machine.Graph(), Replay: journal.Of(machine, restore),
		Verify: func() (verification.Report, error) {
			over, err := domains()
			if err != nil {
				return verification.Report{}, fmt.Errorf("verifying machine %s: %w", definition.Name, err)
			}
			return verification.Machine(machine, over...), nil
		},
	}, nil
}

// As returns the machine with the name of its lifecycle.
func (m Machine) As(lifecycle string) Machine {
	m.Lifecycle = lifecycle
	return m
}

// Domains returns a function for Of that returns the domains.
func Domains[F, D any](domains ...domain.Domain[F, D]) func() ([]domain.Domain[F, D], error) {
	return func() ([]domain.Domain[F, D], error) { return domains, nil }
}

// Find returns the machine with the name, or the one whose lifecycle has it, which is what users see in a status. The error lists the
// names of the machines.
func Find(all []Machine, name string) (Machine, error) {
	for i := range all {
		if all[i].Graph.Name == name {
			return all[i], nil
		}
	}
	for i := range all {
		if name != "" && all[i].Lifecycle == name {
			return all[i], nil
		}
	}
	return Machine{}, fmt.Errorf("there is no machine %q: there are %s", name, Names(all))
}

// Names lists the names of the machines.
func Names(all []Machine) string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Graph.Name
	}
	return strings.Join(names, ", ")
}
