package children

import (
	"context"
	"fmt"

	"github.com/detent-dev/detent/controllers/kafka/status"
)

// poolStatuses commits the ids of the pools' nodes and the rest of the pools' statuses. It first commits the existing ids of all
// pools. Only then does it add new ids, based on pools, records and claims that were read live, because all pools share one range
// of ids. An id is removed from a status only when its node is released.
func (t *scope) poolStatuses(ctx context.Context) error {
	adding := t.snapshot.IDs.Changes() && status.PoolsCommitted(t.kafka, t.snapshot) && t.snapshot.Identity.Mismatch == nil
	if adding {
		for _, current := range []func(context.Context) error{t.poolsAreCurrent, t.nodesAreCurrent} {
			if err := current(ctx); err != nil {
				return err
			}
		}
	}
	for _, pool := range t.snapshot.Objects.Pools {
		want := status.OfPool(t.kafka, t.snapshot, pool, adding)
		if pool.DeletionTimestamp != nil || status.PoolEqual(&pool.Status, want) {
			continue
		}
		next := pool.DeepCopy()
		next.Status = *want.DeepCopy() // the response is decoded into it
		if err := t.Client.Status().Update(ctx, next); err != nil {
			return fmt.Errorf("writing the status of KafkaNodePool %s: %w", pool.Name, err)
		}
	}
	return nil
}
