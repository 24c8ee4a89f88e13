package mirrormaker2

import (
	"github.com/detent-dev/detent/controllers/mirrormaker2/facts"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connector"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/connectworkers"
)

// mostConnectors is how many connectors a resource may have: those that the definition permits, and others that are being deleted.
const mostConnectors = 200

// lifecycles returns the machines of a KafkaMirrorMaker2, in the order of their precedence in the status.
func lifecycles() ([]bound, error) {
	workers, err := machines.Compile(connectworkers.Definition())
	if err != nil {
		return nil, err
	}
	one, err := machines.Compile(connector.Definition())
	if err != nil {
		return nil, err
	}
	offsets, err := machines.Compile(connectoroffsets.Definition())
	if err != nil {
		return nil, err
	}
	return []bound{
		machines.Bind(offsets, machines.Binding[*resourceType, *observation.Snapshot, connectoroffsets.Facts, connectoroffsets.Effect, Effect]{
			Name: observation.LifecycleOffsets, Facts: facts.Offsets, Instances: facts.DeclaredInstances, MaxInstances: mostConnectors,
			Effect: func(e connectoroffsets.Effect) Effect { return Effect{Offsets: &e} },
		}),
		machines.Bind(workers, machines.Binding[*resourceType, *observation.Snapshot, connectworkers.Facts, connectworkers.Effect, Effect]{
			Name: observation.LifecycleWorkers, Facts: facts.Workers, Effect: func(e connectworkers.Effect) Effect { return Effect{Replace: &e} },
		}),
		machines.Bind(one, machines.Binding[*resourceType, *observation.Snapshot, connector.Facts, connector.Effect, Effect]{
			Name: observation.LifecycleConnector, Facts: facts.Connector, Instances: facts.Connectors, MaxInstances: mostConnectors,
			Effect: func(e connector.Effect) Effect { return Effect{Connector: &e} },
		}),
	}, nil
}

// Machines returns the graphs of the machines of a KafkaMirrorMaker2.
func Machines() ([]machines.Graph, error) {
	bound, err := lifecycles()
	if err != nil {
		return nil, err
	}
	return machines.Graphs(bound), nil
}

// Lifecycles returns the graphs of the machines of a KafkaMirrorMaker2 by the names of their lifecycles.
func Lifecycles() (map[string]machines.Graph, error) {
	all, err := lifecycles()
	if err != nil {
		return nil, err
	}
	return machines.GraphsByLifecycle(all), nil
}
