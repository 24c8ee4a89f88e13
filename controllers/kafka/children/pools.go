package children

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// poolStatuses commits the ids of the pools' nodes and the rest of the pools' statuses. It first commits the existing ids of all
// pools. Only then does it add new ids, based on pools, records and claims that were read live, because all pools share one range
// of ids. An id is removed from a status only when its node is released.
func (t *scope) poolStatuses(ctx context.Context) error {
	adding := t.snapshot.IDs.Changes() && status.PoolsCommitted(t.snapshot) && t.snapshot.Identity.Mismatch == nil
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

// poolsAreCurrent returns ErrStale unless the observed pools are the newest.
func (t *scope) poolsAreCurrent(ctx context.Context) error {
	var live kafkav1beta2.KafkaNodePoolList
	if err := t.Live.List(ctx, &live, client.InNamespace(t.kafka.Namespace), client.MatchingLabels{labels.Cluster: t.kafka.Name}); err != nil {
		return fmt.Errorf("reading the KafkaNodePools before node ids are given: %w", err)
	}
	if len(live.Items) != len(t.snapshot.Objects.Pools) {
		return lifecycle.ErrStale
	}
	for i := range live.Items {
		have := t.snapshot.Pool(live.Items[i].Name)
		if have == nil || have.UID != live.Items[i].UID || have.ResourceVersion != live.Items[i].ResourceVersion {
			return lifecycle.ErrStale
		}
	}
	return nil
}

// nodesAreCurrent returns ErrStale unless every record and every claim has been observed: they are the only sources of an id when
// all else of its node is deleted.
func (t *scope) nodesAreCurrent(ctx context.Context) error {
	var (
		configMaps corev1.ConfigMapList
		claims     corev1.PersistentVolumeClaimList
	)
	of := client.MatchingLabels{labels.Cluster: t.kafka.Name, labels.Kind: labels.KindKafka, labels.Name: labels.KafkaName(t.kafka.Name)}
	for _, list := range []client.ObjectList{&configMaps, &claims} {
		if err := t.Live.List(ctx, list, client.InNamespace(t.kafka.Namespace), of); err != nil {
			return fmt.Errorf("reading %T before node ids are assigned: %w", list, err)
		}
	}
	for i := range configMaps.Items {
		if observation.Named(t.snapshot.Objects.ConfigMaps, configMaps.Items[i].Name) == nil {
			return lifecycle.ErrStale
		}
	}
	for i := range claims.Items {
		if observation.Named(t.snapshot.Objects.Claims, claims.Items[i].Name) == nil {
			return lifecycle.ErrStale
		}
	}
	return nil
}
