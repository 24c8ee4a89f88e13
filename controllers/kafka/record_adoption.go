package kafka

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// adoption is how to treat the records that an earlier resource of the same name has left.
type adoption int

const (
	// recordsAdopted: the records are valid and belong to this resource from now on. Also used if no record is of an earlier resource.
	recordsAdopted adoption = iota
	// leaving: objects of the earlier resource are still being deleted, so that nothing is decided and no node is created yet.
	leaving
	// gone: the storage was deleted with the earlier resource, and the records start over.
	gone
)

// recordAdoption judges by the observed objects only: an unobserved pod or claim may have lost its labels.
func recordAdoption(kafka *kafkav1beta2.Kafka, v *observation.Snapshot) adoption {
	switch {
	case !slices.ContainsFunc(v.Nodes, func(n observation.Node) bool { return n.Recorded && n.Record.Resource != kafka.UID }):
		return recordsAdopted
	case anotherIsLeaving(kafka, v):
		return leaving
	case len(v.Objects.Claims) == 0 && len(v.Objects.Pods) == 0:
		return gone
	}
	return recordsAdopted
}

// anotherIsLeaving reports whether a pod or a claim terminates, or belongs to another resource and will be deleted with it.
func anotherIsLeaving(kafka *kafkav1beta2.Kafka, v *observation.Snapshot) bool {
	kept := map[types.UID]bool{kafka.UID: true}
	for _, set := range v.Objects.PodSets {
		if owner := metav1.GetControllerOf(set); set.DeletionTimestamp == nil && (owner == nil || owner.UID == kafka.UID) {
			kept[set.UID] = true
		}
	}
	goes := func(o client.Object) bool {
		owner := metav1.GetControllerOf(o)
		return o.GetDeletionTimestamp() != nil || owner != nil && !kept[owner.UID]
	}
	return slices.ContainsFunc(v.Objects.Pods, func(pod *corev1.Pod) bool { return goes(pod) }) ||
		slices.ContainsFunc(v.Objects.Claims, func(claim *corev1.PersistentVolumeClaim) bool { return goes(claim) })
}

// recordAdoption requires evidence from the API server that nothing is left before records start over: it reads pods and claims
// by name, independently of their labels.
func (t *childReconciler) recordAdoption(ctx context.Context) (adoption, error) {
	seen := recordAdoption(t.kafka, t.snapshot)
	if seen != gone {
		return seen, nil
	}
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if !n.Recorded {
			continue
		}
		for _, name := range t.claimNames(n) {
			if left, err := t.left(ctx, &corev1.PersistentVolumeClaim{}, name); err != nil || left != gone {
				return left, err
			}
		}
		if left, err := t.left(ctx, &corev1.Pod{}, n.PodName); err != nil || left != gone {
			return left, err
		}
	}
	return gone, nil
}

// left returns what the object's existence on the API server means. On an error nothing is decided.
func (t *childReconciler) left(ctx context.Context, o client.Object, name string) (adoption, error) {
	err := t.Live.Get(ctx, client.ObjectKey{Namespace: t.kafka.Namespace, Name: name}, o)
	switch {
	case lifecycle.ObjectMissing(err):
		return gone, nil
	case err != nil:
		return leaving, fmt.Errorf("finding out whether %T %s is left of an earlier Kafka %s: %w", o, name, t.kafka.Name, err)
	case o.GetDeletionTimestamp() != nil:
		return leaving, nil
	}
	return recordsAdopted, nil
}

// claimNames returns the claims that a node may have had: those of the volumes in its record, in either form, and those that its
// pool declares.
func (t *childReconciler) claimNames(n *observation.Node) []string {
	names := []string{render.SingleClaim(n.PodName)}
	for _, id := range n.Record.Volumes {
		names = append(names, render.ListedClaim(n.PodName, id))
	}
	if pool := t.snapshot.Pool(n.Pool); pool != nil {
		names = append(names, render.ClaimNames(&pool.Spec.Storage, n.PodName)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// newRecord returns the record of a node whose storage was deleted with an earlier resource.
func newRecord(n *observation.Node) record.Record {
	return record.Record{
		ID: n.ID, Pool: n.Pool, ClusterID: n.Record.ClusterID, Format: record.FormatAllowed, SnapshotInterval: record.DefaultSnapshotInterval,
	}
}
