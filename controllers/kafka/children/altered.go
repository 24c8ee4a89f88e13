package children

import (
	"context"
	"fmt"
	"maps"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// RecordAltered records which configurations of running brokers were altered. Without any, the record is deleted.
func (r *Reconciler) RecordAltered(ctx context.Context, kafka *kafkav1beta2.Kafka, snapshot *observation.Snapshot, write lifecycle.Writer, names []string) error {
	t := scope{Reconciler: r, kafka: kafka, snapshot: snapshot, write: write}
	want := snapshot.Rendered.Altered(observation.AlteredRecord(names))
	have := observation.Named(snapshot.Objects.ConfigMaps, render.AlteredName(kafka.Name))
	switch {
	case have == nil && len(names) == 0:
		return nil
	case have == nil:
		return t.create(ctx, want)
	case len(names) == 0:
		return write.Delete(ctx, have.DeepCopy())
	case !metaBehind(have, want) && maps.Equal(have.Data, want.Data):
		return nil
	}
	have = have.DeepCopy()
	catchUp(have, want)
	have.Data = want.Data
	if err := write.Update(ctx, have); err != nil {
		return fmt.Errorf("recording the altered configurations of Kafka %s: %w", kafka.Name, err)
	}
	return nil
}
