// Package kafka is the controller of Kafka clusters. A cluster is observed (package observation), the lifecycles decide on facts of
// the observation, and the effects of their actions, the records of the nodes and the objects of the cluster are written (Effects).
// The lifecycles are declared where they are bound to the kind.
package kafka

import (
	"context"
	"fmt"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// Effect is a request of a lifecycle of a Kafka resource. Exactly one of its fields is set.
type Effect struct {
	// Restart replaces the pod of a node.
	Restart *Restart
	// Update changes a feature level.
	Update *kafkaclient.FeatureUpdate
	// Format permits formatting the storage of a node.
	Format *Format
}

// Format permits formatting the storage of a node whose volume was lost.
type Format struct{ Node int32 }

// Restart restarts a node on a version. An empty version means the version that it runs.
type Restart struct {
	Node    int32
	Version string
}

type (
	bound         = machines.Lifecycle[*kafkav1beta2.Kafka, *observation.Snapshot, Effect]
	effectRequest = lifecycle.EffectRequest[*kafkav1beta2.Kafka, *observation.Snapshot, Effect]
	// Kind of the Kafka resource.
	Kind = lifecycle.Kind[*kafkav1beta2.Kafka, *observation.Snapshot, Effect]
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
	return []bound{
		machines.Bind(version, machines.Binding[*kafkav1beta2.Kafka, *observation.Snapshot, kafkaversion.Facts, kafkaversion.Effect, Effect]{
			Name: observation.LifecycleVersion, Facts: observeVersion,
			Effect: func(e kafkaversion.Effect) Effect {
				if e.Restart != nil {
					return Effect{Restart: &Restart{Node: e.Restart.Node, Version: e.Restart.Version}}
				}
				return Effect{Update: e.Update}
			},
		}),
		machines.Bind(rolling, machines.Binding[*kafkav1beta2.Kafka, *observation.Snapshot, noderoll.Facts, noderoll.Effect, Effect]{
			Name: observation.LifecycleRoll, Facts: observeRoll,
			Effect: func(e noderoll.Effect) Effect { return Effect{Restart: &Restart{Node: e.Node}} },
		}),
		machines.Bind(storage, machines.Binding[*kafkav1beta2.Kafka, *observation.Snapshot, nodestorage.Facts, nodestorage.Effect, Effect]{
			Name: observation.LifecycleStorage, Facts: observeNodeStorage,
			Effect: func(e nodestorage.Effect) Effect { return Effect{Format: &Format{Node: e.Node}} },
		}),
	}, nil
}

// Machines returns the graphs of the machines of a Kafka resource.
func Machines() ([]machines.Graph, error) {
	bound, err := lifecycles()
	if err != nil {
		return nil, err
	}
	out := make([]machines.Graph, len(bound))
	for i, lc := range bound {
		out[i] = lc.Graph()
	}
	return out, nil
}

// NewKind assembles what the runtime needs to reconcile Kafka resources: lifecycles, observation and effects.
func NewKind(collector *observation.Collector, effects *Effects) (Kind, error) {
	all, err := lifecycles()
	if err != nil {
		return Kind{}, fmt.Errorf("assembling the lifecycles of Kafka: %w", err)
	}
	declared := Resource()
	return Kind{
		Name: declared.Name, New: func() *kafkav1beta2.Kafka { return &kafkav1beta2.Kafka{} },
		Lifecycles: all, Owns: declared.Children(), OwnerOf: declared.OwnerOf,
		Observe: func(ctx context.Context, k *kafkav1beta2.Kafka, request lifecycle.ObserveRequest) (*observation.Snapshot, error) {
			v, err := collector.Collect(ctx, k, request)
			return &v, err
		},
		Execute: func(ctx context.Context, t effectRequest) error { return execute(ctx, collector.System, effects, t) },
		Disrupts: func(e Effect) (string, bool) {
			if e.Restart == nil {
				return "", false
			}
			return disruptionTarget(e.Restart.Node), true
		},
		Availability: availability,
		Repair: func(ctx context.Context, k *kafkav1beta2.Kafka, v *observation.Snapshot, write lifecycle.Writer) error {
			return effects.Repair(ctx, k, v, write)
		},
		Apply: func(ctx context.Context, k *kafkav1beta2.Kafka, v *observation.Snapshot, write lifecycle.Writer) error {
			version := versionOfNewNodes(k, v)
			return effects.Apply(ctx, k, v, write, func(*observation.Node) string { return version })
		},
		AlwaysNeeded:     []transitions.Need{kafkaversion.NeedFeatures, roll.NeedBrokers},
		Project:          project,
		StatusEqual:      statusEqual,
		PauseAnnotations: []string{PauseAnnotation},
		Cleanup:          collector.Cleanup,
	}, nil
}

func execute(ctx context.Context, system connection.System, effects *Effects, t effectRequest) error {
	switch {
	case t.Effect.Update != nil:
		system.Write(ctx, connection.EndpointOf(t.Object), t.RequestID, kafkaclient.Command{UpdateFeature: t.Effect.Update})
		return nil
	case t.Effect.Format != nil:
		return effects.AllowFormat(ctx, t.Object, t.Snapshot, t.Write, t.Effect.Format.Node)
	case t.Effect.Restart != nil:
		version := t.Effect.Restart.Version
		if n := t.Snapshot.Node(t.Effect.Restart.Node); version == "" && n != nil {
			version = n.Version()
		}
		return effects.Restart(ctx, t.Object, t.Snapshot, t.Write, t.Effect.Restart.Node, version)
	default:
		return fmt.Errorf("executing an effect of Kafka %s: it is empty", t.Object.Name)
	}
}

// versionOfNewNodes returns the version on which a new node starts: the oldest running version, from which the version change
// upgrades it. In a new cluster, or one of which only the status is left, it is the desired version once the version change
// permits it. It is empty if it is not known yet, and while the spec is invalid.
func versionOfNewNodes(k *kafkav1beta2.Kafka, v *observation.Snapshot) string {
	if specError(k, v) != nil || incomplete(k, v) != nil {
		return ""
	}
	d := decision.Decide(situation(k, v))
	if d.Direction != decision.DirectionInstall {
		if oldest := observation.OldestVersion(v); oldest != "" {
			return oldest
		}
	}
	for i := range k.Status.Lifecycles {
		if e := &k.Status.Lifecycles[i]; e.Name == observation.LifecycleVersion && e.State == roll.AwaitingReady {
			return d.To.String()
		}
	}
	return ""
}
