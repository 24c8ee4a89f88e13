// Package kafka is the kind of Kafka clusters: it connects the parts that its folders contain. In one reconcile a cluster is observed
// (observation), the lifecycles decide on facts of the observation (facts), their effects are executed, the objects of the cluster
// are written (children), and the status is set (status).
package kafka

import (
	"context"
	"fmt"

	"github.com/detent-dev/detent/controllers/kafka/children"
	"github.com/detent-dev/detent/controllers/kafka/disruption"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

type (
	bound         = machines.Lifecycle[*kafkav1beta2.Kafka, *observation.Snapshot, Effect]
	effectRequest = lifecycle.EffectRequest[*kafkav1beta2.Kafka, *observation.Snapshot, Effect]
	// Kind of the Kafka resource.
	Kind = lifecycle.Kind[*kafkav1beta2.Kafka, *observation.Snapshot, Effect]
)

// NewKind assembles what the runtime needs to reconcile Kafka resources: lifecycles, observation, effects, children and status.
func NewKind(collector *observation.Collector, objects *children.Reconciler) (Kind, error) {
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
			if err == nil {
				v.SpecError = facts.SpecError(k, &v)
			}
			return &v, err
		},
		Execute: func(ctx context.Context, t effectRequest) error { return execute(ctx, collector.System, objects, t) },
		Disrupts: func(e Effect) (string, bool) {
			switch {
			case e.Restart != nil:
				return disruption.Target(e.Restart.Node), true
			case e.Replace != nil:
				return disruption.Target(e.Replace.Node), true
			}
			return "", false
		},
		Availability: disruption.Availability,
		Repair:       objects.Repair,
		Apply: func(ctx context.Context, k *kafkav1beta2.Kafka, v *observation.Snapshot, write lifecycle.Writer) error {
			return objects.Apply(ctx, k, v, write, facts.VersionOfNewNodes(k, v))
		},
		AlwaysNeeded:     []transitions.Need{kafkaversion.NeedFeatures, roll.NeedBrokers},
		Project:          status.Project,
		StatusEqual:      status.Equal,
		PauseAnnotations: labels.Pauses(),
		Cleanup:          collector.Cleanup,
	}, nil
}
