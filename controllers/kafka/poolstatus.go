package kafka

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// poolStatuses commits the ids of the pools' nodes and the rest of the pools' statuses. It first commits the existing ids of all
// pools. Only then does it add new ids, based on pools, records and claims that were read live, because all pools share one range
// of ids. An id is removed from a status only when its node is released.
func (t *childReconciler) poolStatuses(ctx context.Context) error {
	adding := t.snapshot.IDs.Changes() && t.committed() && t.snapshot.Identity.Mismatch == nil
	if adding {
		for _, current := range []func(context.Context) error{t.poolsAreCurrent, t.nodesAreCurrent} {
			if err := current(ctx); err != nil {
				return err
			}
		}
	}
	for _, pool := range t.snapshot.Objects.Pools {
		want := t.poolStatus(pool, adding)
		if pool.DeletionTimestamp != nil || samePoolStatus(&pool.Status, want) {
			continue
		}
		next := pool.DeepCopy()
		next.Status = *want
		if err := t.Client.Status().Update(ctx, next); err != nil {
			return fmt.Errorf("writing the status of KafkaNodePool %s: %w", pool.Name, err)
		}
	}
	return nil
}

// committed reports whether the statuses of all pools contain every existing id.
func (t *childReconciler) committed() bool {
	for _, pool := range t.snapshot.Objects.Pools {
		if len(missing(pool.Status.NodeIDs, t.existing(pool.Name))) > 0 {
			return false
		}
	}
	return true
}

// existing returns the ids of a pool's nodes.
func (t *childReconciler) existing(pool string) []int32 {
	var ids []int32
	for i := range t.snapshot.Nodes {
		if n := &t.snapshot.Nodes[i]; n.Pool == pool {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

func missing(have, want []int32) []int32 {
	var out []int32
	for _, id := range want {
		if !slices.Contains(have, id) {
			out = append(out, id)
		}
	}
	return out
}

// poolsAreCurrent returns ErrStale unless the observed pools are the newest.
func (t *childReconciler) poolsAreCurrent(ctx context.Context) error {
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
func (t *childReconciler) nodesAreCurrent(ctx context.Context) error {
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

// poolStatus returns the desired status of a pool.
func (t *childReconciler) poolStatus(pool *kafkav1beta2.KafkaNodePool, adding bool) *kafkav1beta2.KafkaNodePoolStatus {
	s := pool.Status.DeepCopy()
	s.NodeIDs = append(s.NodeIDs, missing(s.NodeIDs, t.existing(pool.Name))...)
	if adding {
		s.NodeIDs = append(s.NodeIDs, t.snapshot.IDs.Of(pool.Name).Added...)
	}
	slices.Sort(s.NodeIDs)
	s.Roles = t.roles(pool)
	s.Replicas = int32(len(t.existing(pool.Name)))
	s.LabelSelector = apilabels.SelectorFromValidatedSet(map[string]string{
		labels.Cluster: t.kafka.Name, labels.Kind: labels.KindKafka, labels.Name: labels.KafkaName(t.kafka.Name), labels.Pool: pool.Name,
	}).String()
	if t.snapshot.Identity.Mismatch == nil {
		s.ClusterID = t.snapshot.Identity.ID
	}
	s.ObservedGeneration = pool.Generation
	s.Conditions = t.poolConditions(pool)
	return s
}

// roles returns the roles of the pool's nodes; before it has nodes, those in its spec.
func (t *childReconciler) roles(pool *kafkav1beta2.KafkaNodePool) []kafkav1beta2.NodeRole {
	var all observation.Roles
	for i := range t.snapshot.Nodes {
		if n := &t.snapshot.Nodes[i]; n.Pool == pool.Name {
			all.Controller, all.Broker = all.Controller || n.Roles.Controller, all.Broker || n.Roles.Broker
		}
	}
	if all == (observation.Roles{}) {
		return slices.Clone(pool.Spec.Roles)
	}
	return all.List()
}

// poolConditions returns the conditions of a pool: whether its nodes are exactly the desired ones and ready, and warnings.
func (t *childReconciler) poolConditions(pool *kafkav1beta2.KafkaNodePool) []metav1.Condition {
	var down []string
	for i := range t.snapshot.Nodes {
		if n := &t.snapshot.Nodes[i]; n.Pool == pool.Name && n.Wanted && !n.Pod.Ready {
			down = append(down, n.PodName)
		}
	}
	left, ids := unsupportedChangesIn(t.snapshot, pool), t.snapshot.IDs.Of(pool.Name)
	c := metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionTrue, Reason: "NodesReady", Message: "every wanted node is ready"}
	switch {
	case t.snapshot.IDs.Refusal != nil:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, string(t.snapshot.IDs.Refusal.Reason), t.snapshot.IDs.Refusal.Message
	case len(ids.Added)+ids.Withheld > 0:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, "NodesNotReady", "new nodes are being made"
	case len(down) > 0:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, "NodesNotReady", "not ready: "+roll.Names(down)
	case len(left) > 0:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, left[0].Reason, left[0].Message
	}
	out := append([]metav1.Condition{c}, poolWarnings(t.snapshot, pool, left)...)
	for i := range out {
		out[i].ObservedGeneration = pool.Generation
		out[i].LastTransitionTime = metav1.NewTime(t.snapshot.Now.UTC().Truncate(time.Second))
		for _, old := range pool.Status.Conditions {
			if old.Type == out[i].Type && old.Status == out[i].Status && (old.Reason == out[i].Reason || old.Type != lifecycle.Warning) {
				out[i].LastTransitionTime = old.LastTransitionTime
			}
		}
	}
	return out
}

// samePoolStatus compares the fields that poolStatus sets.
func samePoolStatus(a, b *kafkav1beta2.KafkaNodePoolStatus) bool {
	return slices.Equal(a.NodeIDs, b.NodeIDs) && slices.Equal(a.Roles, b.Roles) && a.Replicas == b.Replicas && a.ClusterID == b.ClusterID &&
		a.LabelSelector == b.LabelSelector && a.ObservedGeneration == b.ObservedGeneration &&
		slices.EqualFunc(a.Conditions, b.Conditions, func(x, y metav1.Condition) bool {
			return x.Type == y.Type && x.Status == y.Status && x.Reason == y.Reason && x.Message == y.Message
		})
}
