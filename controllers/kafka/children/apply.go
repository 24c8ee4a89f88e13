package children

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	t := &scope{Reconciler: r, kafka: kafka, snapshot: snapshot, write: refusals{write}}
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
	from, err := t.recordAdoption(ctx)
	switch {
	case err != nil:
		return err
	case from == recording.Wait:
		return t.awaitLeaving()
	}
	if found, err := t.forgetUnused(ctx); err != nil || found {
		return err
	}
	if from == recording.StartOver {
		return nil // a record of the earlier resource is observed: by what it says the others would start as nodes of that one
	}
	t.adoption = from
	unrecorded, failed := t.records(ctx, from, isNew)
	err = errors.Join(failed...)
	if outdated(err) {
		return err
	}
	incomplete, failure := t.disks(ctx, unrecorded)
	if outdated(failure) {
		return failure
	}
	if t.lacksVoters() {
		if err != nil {
			err = fmt.Errorf("starting a new cluster, which waits for the records of all its controllers: %w", err)
		}
		return errors.Join(err, failure)
	}
	failures := []error{err, failure}
	for _, pool := range t.pools() {
		err := t.entries(ctx, pool, version, incomplete)
		if outdated(err) {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(append(failures, t.emptyPodSets(ctx))...)
}

// disks creates, updates and deletes claims, and what else pods mount. It returns the nodes that lack something which a new pod of theirs
// would mount. A node without a record gets nothing: the record is written before what it refers to.
func (t *scope) disks(ctx context.Context, unrecorded []int32) (incomplete []int32, err error) {
	incomplete = slices.Clone(unrecorded)
	var failures []error
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if t.snapshot.Pool(n.Pool) == nil || t.snapshot.Misplaced(n) != nil || slices.Contains(unrecorded, n.ID) {
			continue
		}
		var failure error
		if n.Stopped() {
			failure = t.deletionOfClaims(ctx, n)
		} else {
			var complete bool
			if complete, failure = t.mounts(ctx, n); !complete {
				incomplete = append(incomplete, n.ID)
			}
		}
		if outdated(failure) {
			return nil, failure
		}
		failures = append(failures, failure)
	}
	return incomplete, errors.Join(failures...)
}

// mounts creates and updates what the pod of a node mounts: its claims and its configuration. It reports whether all of it exists. A
// failure does not prevent the rest: a claim that cannot be expanded must not stop a change of the configuration, or other nodes.
func (t *scope) mounts(ctx context.Context, n *observation.Node) (complete bool, err error) {
	exist, err := t.claims(ctx, n)
	if outdated(err) {
		return false, err
	}
	failure := t.config(ctx, n)
	if outdated(failure) {
		return false, failure
	}
	return exist && failure == nil, errors.Join(err, failure)
}

// undecided reports whether no node may be created now, because the node ids or the identity of the cluster are uncertain or not
// committed yet.
func (t *scope) undecided() bool {
	return t.snapshot.Identity.Mismatch != nil || t.snapshot.IDs.Refusal != nil || t.snapshot.IDs.Changes()
}

// lacksVoters reports whether no node may be started yet, because a controller of a cluster of which nothing was started has no record. The
// controllers would start with it among their voters. A node of which nothing exists is no node of a cluster that was started, so that the
// next configuration would name fewer voters.
func (t *scope) lacksVoters() bool {
	return !t.snapshot.Started() && slices.ContainsFunc(t.snapshot.Nodes, func(n observation.Node) bool {
		return n.Wanted && n.Roles.Controller && !n.Recorded
	})
}
