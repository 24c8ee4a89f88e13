// Package catalogue lists the machines that this binary runs, as plain graphs that can be drawn, documented and found by name.
package catalogue

import (
	"errors"
	"fmt"
	"strings"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
)

//go:generate go run ../../hack/docs ../../docs/machines

// Machines returns the graphs of all machines, in the order of the documentation. An error means that the binary was built with
// a machine that does not compile; it lists every finding.
func Machines() ([]machines.Graph, error) {
	version, errVersion := graphOf(kafkaversion.Definition())
	roll, errRoll := graphOf(noderoll.Definition())
	storage, errStorage := graphOf(nodestorage.Definition())
	if err := errors.Join(errVersion, errRoll, errStorage); err != nil {
		return nil, err
	}
	return []machines.Graph{version, roll, storage}, nil
}

func graphOf[F, M, E any](definition machines.Definition[F, M, E]) (machines.Graph, error) {
	machine, err := machines.Compile(definition)
	if err != nil {
		return machines.Graph{}, fmt.Errorf("compiling machine %s: %w", definition.Name, err)
	}
	return machine.Graph(), nil
}

// Find returns the machine with the name, or an error that lists the known names.
func Find(all []machines.Graph, name string) (machines.Graph, error) {
	known := make([]string, len(all))
	for i := range all {
		if all[i].Name == name {
			return all[i], nil
		}
		known[i] = all[i].Name
	}
	return machines.Graph{}, fmt.Errorf("there is no machine %q: there are %s", name, strings.Join(known, ", "))
}
