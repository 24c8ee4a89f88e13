package children

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Replace deletes the claims and the pod of a node, so that it starts empty. The snapshot must be live.
//
// The order makes a crash at any point harmless. First the record lists the UIDs of what is replaced. Then the claims of that list
// are deleted: they exist until no pod uses them. Then the pod is evicted. While the list is in the record and formatting is not
// permitted, no claim of the node is created. While a claim is being deleted, the controller of StrimziPodSets creates no pod that
// uses it. So a claim that Apply created is never deleted, and nothing starts on storage that is being deleted.
//
// If the disruption budget refuses the eviction, it returns ErrWait.
func (r *Reconciler) Replace(ctx context.Context, kafka *kafkav1beta2.Kafka, snapshot *observation.Snapshot, write lifecycle.Writer, id int32) error {
	t := r.Removal(kafka, snapshot, write)
	n := snapshot.Node(id)
	if n == nil {
		return fmt.Errorf("replacing the storage of node %d: there is no such node", id)
	}
	if n.Pod.Ready && t.exhausted() {
		return fmt.Errorf("replacing the storage of %s: %w: its disruption budget allows none now", n.PodName, lifecycle.ErrWait)
	}
	if err := t.judged(n, "replacing the storage of"); err != nil {
		return err
	}
	replaced := n.Record.Replaced
	if !n.Record.Replacing() {
		replaced = t.replaced(n)
		if _, err := t.remember(ctx, id, "replacing the storage of", func(r *record.Record) {
			r.Replaced, r.Format = replaced, record.FormatDone
		}); err != nil {
			return err
		}
	}
	for _, claim := range snapshot.ClaimsOf(n) {
		if claim.DeletionTimestamp != nil || !slices.Contains(replaced, claim.UID) {
			continue
		}
		if err := t.write.Delete(ctx, claim.DeepCopy()); err != nil {
			return err
		}
	}
	pod := observation.Named(snapshot.Objects.Pods, n.PodName)
	if pod == nil || n.Pod.Terminating {
		return nil
	}
	return t.take(ctx, n, pod)
}

// replaced returns the UIDs of the pod and the claims of the node. The UID of the pod is first: it is known without any claim.
func (t *scope) replaced(n *observation.Node) []types.UID {
	uids := []types.UID{n.Pod.UID}
	for _, claim := range t.snapshot.ClaimsOf(n) {
		uids = append(uids, claim.UID)
	}
	return uids
}
