package children

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
)

// components deploys the topic operator, the user operator and the exporter once every desired node is ready. Later it keeps
// existing Deployments up to date, and deletes them when they are no longer desired. An exporter is unchanged while its spec is
// invalid.
func (t *scope) components(ctx context.Context) error {
	wanted := t.snapshot.Rendered.Components()
	var failures []error
	for _, want := range wanted {
		have := observation.Named(t.snapshot.Objects.Deployments, want.Name)
		if have == nil && !t.allReady() {
			continue
		}
		err := t.deployment(ctx, want, have)
		if outdated(err) {
			return err
		}
		failures = append(failures, err)
	}
	for _, have := range t.snapshot.Objects.Deployments {
		ours := have.Name == render.EntityOperatorName(t.kafka.Name) || have.Name == render.ExporterName(t.kafka.Name)
		kept := have.Name == render.ExporterName(t.kafka.Name) && render.ExporterProblem(t.kafka.Spec.KafkaExporter) != nil
		if !ours || kept || !t.isOwned(have) || have.DeletionTimestamp != nil || observation.Named(wanted, have.Name) != nil {
			continue
		}
		if err := t.write.Delete(ctx, have.DeepCopy()); err != nil {
			failures = append(failures, fmt.Errorf("removing what is wanted no longer: %w", err))
		}
	}
	return errors.Join(failures...)
}

// allReady reports whether every desired node has a ready pod.
func (t *scope) allReady() bool {
	return len(t.snapshot.Nodes) > 0 && !slices.ContainsFunc(t.snapshot.Nodes, func(n observation.Node) bool { return n.Wanted && !n.Pod.Ready })
}
