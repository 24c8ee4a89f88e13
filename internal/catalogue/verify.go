package catalogue

import (
	"fmt"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/verification"
)

// Verify verifies the machines of this binary, each over its own domains, in the order of Machines. A name selects one machine;
// an empty name selects all. It takes seconds.
func Verify(name string) ([]verification.Report, error) {
	graphs, err := Machines()
	if err != nil {
		return nil, err
	}
	if name != "" {
		one, err := Find(graphs, name)
		if err != nil {
			return nil, err
		}
		graphs = []machines.Graph{one}
	}
	domains, err := kafkaversion.Domains()
	if err != nil {
		return nil, err
	}
	var reports []verification.Report
	for i := range graphs {
		var report verification.Report
		switch graphs[i].Name {
		case kafkaversion.Name:
			report, err = verified(kafkaversion.Definition(), domains...)
		case noderoll.Name:
			report, err = verified(noderoll.Definition(), noderoll.Domain())
		case nodestorage.Name:
			report, err = verified(nodestorage.Definition(), nodestorage.Domain())
		default:
			err = fmt.Errorf("machine %s cannot be verified: add it to catalogue.Verify", graphs[i].Name)
		}
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}

func verified[F, M, E any](definition machines.Definition[F, M, E], domains ...verification.Domain[F, M]) (verification.Report, error) {
	machine, err := machines.Compile(definition)
	if err != nil {
		return verification.Report{}, fmt.Errorf("compiling machine %s: %w", definition.Name, err)
	}
	return verification.Machine(machine, domains...), nil
}
