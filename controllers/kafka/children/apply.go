package children

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/recording"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Apply creates and updates the objects of a cluster without disruption: only Restart replaces the entries of existing nodes, and
// Apply removes only objects that are neither mounted nor desired.
//
// Everything that is remembered is written before what it refers to: node ids and records before claims, claims and
// configurations before entries, entries before pods, which the StrimziPodSet controller creates. No node is created while the
// ids or the identity of the cluster are uncertain. version is the Kafka version of a new node's entry; empty means no entry yet. Apply changes nothing of a cluster whose nodes were created by another operator.
func (r *Reconciler) Apply(ctx context.Context, kafka *kafkav1beta2.Kafka, snapshot *observation.Snapshot, write lifecycle.Writer, version string) error {
	if observation.Foreign(snapshot) != nil {
		return nil
	}
	t := &scope{Reconciler: r, kafka: kafka, snapshot: snapshot, write: write}
	var failures []error
	for _, step := range []func(context.Context) error{
		t.poolStatuses,
		func(ctx context.Context) error { return t.network(ctx, true) },
		func(ctx context.Context) error { return t.nodes(ctx, version) },
		t.components,
		t.awaitPools,
	} {
		err := step(ctx)
		if outdated(err) {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// awaitPools returns ErrWait, which reconciles the Kafka again, while a pool without an object may be created soon. Nothing else
// reports the end of that time.
func (t *scope) awaitPools(context.Context) error {
	for i := range t.snapshot.Nodes {
		if n := &t.snapshot.Nodes[i]; recording.AwaitsPool(t.kafka, t.snapshot, n) {
			end := t.kafka.CreationTimestamp.Add(observation.PoolsGrace).UTC().Format(time.RFC3339)
			return fmt.Errorf("removing %s, whose KafkaNodePool %s does not exist, before %s: %w", n.PodName, n.Pool, end, lifecycle.ErrWait)
		}
	}
	return nil
}

// nodes creates and updates the objects of each node, in the order of their dependencies.
func (t *scope) nodes(ctx context.Context, version string) error {
	if t.undecided() {
		return nil
	}
	if from, err := t.recordAdoption(ctx); err != nil || from == recording.Wait {
		return err
	}
	if err := t.records(ctx, func(n *observation.Node) bool {
		return n.Wanted && !n.Recorded && !recording.HasLeftovers(n) && !n.Pod.Exists
	}); err != nil {
		return err
	}
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if t.snapshot.Pool(n.Pool) == nil || n.Stopped() || t.snapshot.Misplaced(n) != nil {
			continue
		}
		if err := t.claims(ctx, n); err != nil {
			return err
		}
		if err := t.config(ctx, n); err != nil {
			return err
		}
	}
	for _, pool := range t.pools() {
		if err := t.entries(ctx, pool, version); err != nil {
			return err
		}
	}
	return t.emptyPodSets(ctx)
}

// undecided reports whether no node may be created now, because the node ids or the identity of the cluster are uncertain or not
// committed yet.
func (t *scope) undecided() bool {
	return t.snapshot.Identity.Mismatch != nil || t.snapshot.IDs.Refusal != nil || t.snapshot.IDs.Changes()
}
