package kafka

import (
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
)

// lifecycles returns the machines of a Kafka resource, in the order of their precedence in the status.
func lifecycles() ([]bound, error) {
	version, err := machines.Compile(kafkaversion.Definition())
	if err != nil {
		return nil, err
	}
	rolling, err := machines.Compile(noderoll.Definition())
	if err != nil {
		return nil, err
	}
	storage, err := machines.Compile(nodestorage.Definition())
	if err != nil {
		return nil, err
	}
	removal, err := machines.Compile(kraftscaledown.Definition())
	if err != nil {
		return nil, err
	}
	configuration, err := machines.Compile(dynamicconfig.Definition())
	if err != nil {
		return nil, err
	}
	return []bound{
		machines.Bind(version, machines.Binding[*kafkav1beta2.Kafka, *observation.Snapshot, kafkaversion.Facts, kafkaversion.Effect, Effect]{
			Name: observation.LifecycleVersion, Facts: facts.Version,
			Effect: func(e kafkaversion.Effect) Effect {
				if e.Restart != nil {
					return Effect{Restart: &Restart{Node: e.Restart.Node, Version: e.Restart.Version}}
				}
				return Effect{Update: e.Update}
			},
		}),
		machines.Bind(rolling, machines.Binding[*kafkav1beta2.Kafka, *observation.Snapshot, noderoll.Facts, noderoll.Effect, Effect]{
			Name: observation.LifecycleRoll, Facts: facts.NodeRoll,
			Effect: func(e noderoll.Effect) Effect { return Effect{Restart: &Restart{Node: e.Node}} },
		}),
		machines.Bind(storage, machines.Binding[*kafkav1beta2.Kafka, *observation.Snapshot, nodestorage.Facts, nodestorage.Effect, Effect]{
			Name: observation.LifecycleStorage, Facts: facts.NodeStorage,
			Effect: func(e nodestorage.Effect) Effect {
				if e.Replace {
					return Effect{Replace: &Replace{Node: e.Node}}
				}
				return Effect{Format: &Format{Node: e.Node}}
			},
		}),
		machines.Bind(removal, machines.Binding[*kafkav1beta2.Kafka, *observation.Snapshot, kraftscaledown.Facts, kraftscaledown.Effect, Effect]{
			Name: observation.LifecycleScaleDown, Facts: facts.ScaleDown,
			Effect: func(e kraftscaledown.Effect) Effect { return Effect{Removal: &e} },
		}),
		machines.Bind(configuration, machines.Binding[*kafkav1beta2.Kafka, *observation.Snapshot, dynamicconfig.Facts, dynamicconfig.Effect, Effect]{
			Name: observation.LifecycleConfiguration, Facts: facts.DynamicConfig,
			Effect: func(e dynamicconfig.Effect) Effect { return Effect{Configuration: &e} },
		}),
	}, nil
}

// Machines returns the graphs of the machines of a Kafka resource.
func Machines() ([]machines.Graph, error) {
	bound, err := lifecycles()
	if err != nil {
		return nil, err
	}
	return machines.Graphs(bound), nil
}

// Lifecycles returns the graphs of the machines of a Kafka resource by the names of their lifecycles.
func Lifecycles() (map[string]machines.Graph, error) {
	all, err := lifecycles()
	if err != nil {
		return nil, err
	}
	return machines.GraphsByLifecycle(all), nil
}
