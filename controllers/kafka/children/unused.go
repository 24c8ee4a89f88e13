package children

import (
	"context"
	"slices"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/recording"
)

// forgetUnused deletes what is left of unused nodes, their record last, and reports whether there are any: then nothing of the cluster is
// started in this reconcile. Every recorded controller is a voter of the quorum, and a cluster that started with voters that never run
// could not elect a leader.
func (t *scope) forgetUnused(ctx context.Context) (found bool, err error) {
	for i := range t.snapshot.Nodes {
		found = found || t.snapshot.Unused(&t.snapshot.Nodes[i])
	}
	if !found {
		return false, nil
	}
	// A cache may not show yet that the cluster was started, or a claim, which would be adopted as one in use when its record is gone.
	if err := t.nodesAreCurrent(ctx); err != nil {
		return true, err
	}
	for i := range t.snapshot.Nodes {
		if err := t.nodeIsCurrent(ctx, &t.snapshot.Nodes[i]); err != nil {
			return true, err
		}
	}
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if !t.snapshot.Unused(n) || !t.listed(n) || recording.AwaitsPool(t.kafka, t.snapshot, n) {
			continue
		}
		if err := t.forget(ctx, n); err != nil {
			return true, err
		}
	}
	return true, nil
}

// listed reports whether the node is in the status of its pool, so that a status that was wiped removes nothing, or has no pool.
func (t *scope) listed(n *observation.Node) bool {
	pool := t.snapshot.Pool(n.Pool)
	if pool == nil {
		return true
	}
	ids, _ := observation.OfPoolStatus(t.kafka, pool)
	return slices.Contains(ids, n.ID)
}

// forget deletes the claims, the configuration and the record of an unused node. A claim that is bound is released like that of any node
// that was removed, so that a volume is deleted only if its pool says so.
func (t *scope) forget(ctx context.Context, n *observation.Node) error {
	for _, claim := range t.snapshot.ClaimsOf(n) {
		if claim.DeletionTimestamp != nil {
			continue
		}
		var err error
		if claim.Spec.VolumeName == "" {
			err = t.write.Delete(ctx, claim.DeepCopy())
		} else {
			err = Removal{*t}.releaseClaim(ctx, n, claim)
		}
		if err != nil {
			return err
		}
	}
	return t.deleteConfigMaps(ctx, n.PodName, record.Name(n.PodName))
}

// deleteConfigMaps deletes the ConfigMaps that exist, in the order given.
func (t *scope) deleteConfigMaps(ctx context.Context, names ...string) error {
	for _, name := range names {
		if m := observation.Named(t.snapshot.Objects.ConfigMaps, name); m != nil && m.DeletionTimestamp == nil {
			if err := t.write.Delete(ctx, m.DeepCopy()); err != nil {
				return err
			}
		}
	}
	return nil
}
