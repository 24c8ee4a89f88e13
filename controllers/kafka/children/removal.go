package children

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/entryhash"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Removal changes what is remembered of a broker that leaves, and removes what is left of it. The snapshot must be live.
type Removal struct{ scope }

// Removal returns the removal of brokers of one cluster.
func (r *Reconciler) Removal(kafka *kafkav1beta2.Kafka, snapshot *observation.Snapshot, write lifecycle.Writer) Removal {
	return Removal{scope{Reconciler: r, kafka: kafka, snapshot: snapshot, write: write}}
}

// Stop forbids the node to run as a broker in its record. After that it removes the entry of a node that leaves, so that the controller
// of StrimziPodSets evicts its pod. A node that remains a controller keeps its entry: a roll restarts it without the broker role.
func (t Removal) Stop(ctx context.Context, id int32) error {
	n, err := t.remember(ctx, id, "stopping", func(r *record.Record) { r.Stop = true })
	if err != nil || n.Removal() != observation.Leaves {
		return err
	}
	set := observation.Named(t.snapshot.Objects.PodSets, render.PodSetName(t.kafka.Name, n.Pool))
	if set == nil || !n.Entry.Exists {
		return nil
	}
	before := set
	set = set.DeepCopy()
	set.Spec.Pods = slices.DeleteFunc(set.Spec.Pods, func(e corev1beta2.PodEntry) bool {
		pod, err := e.Pod()
		return err == nil && pod.Name == n.PodName
	})
	if mark, marked := restarting.Of(set); marked && mark.Pod == n.PodName {
		restarting.Remove(set)
	}
	return entryhash.Update(ctx, t.write, set, before)
}

// Return permits the node to run as a broker again. Repair restores its entry as it last ran.
func (t Removal) Return(ctx context.Context, id int32) error {
	_, err := t.remember(ctx, id, "bringing back", func(r *record.Record) { r.Stop = false })
	return err
}

// Drain remembers that the node is drained, with the number of its partitions. 0 partitions end the drain.
func (t Removal) Drain(ctx context.Context, id int32, partitions int) error {
	_, err := t.remember(ctx, id, "draining", func(r *record.Record) { r.Draining = partitions })
	return err
}

// Release deletes what is left of a node that was removed: its claims, unless their data is kept, its configuration, and last its
// record, which first gives up the storage that is deleted. A claim that is kept is marked, so that it is no evidence of a node; its id is
// not assigned again. A node that remains a controller only loses the broker role in its record.
func (t Removal) Release(ctx context.Context, id int32) error {
	n := t.snapshot.Node(id)
	switch {
	case n == nil:
		return nil
	case n.Removal() == observation.Demoted:
		_, err := t.remember(ctx, id, "releasing", func(r *record.Record) {
			r.Roles, r.Stop = []kafkav1beta2.NodeRole{kafkav1beta2.RoleController}, false
		})
		return err
	case n.Removal() != observation.Leaves:
		return fmt.Errorf("releasing node %d: %w: its record does not say that it leaves", id, lifecycle.ErrWait)
	}
	if changed, err := t.giveUp(ctx, n); err != nil || changed {
		return err // the change is observed first: the record is deleted last, as it is then
	}
	for _, claim := range t.snapshot.Objects.Claims {
		if _, is := render.ClaimVolume(claim.Name, n.PodName); !is || claim.DeletionTimestamp != nil {
			continue
		}
		if err := t.releaseClaim(ctx, n, claim); err != nil {
			return err
		}
	}
	return t.deleteConfigMaps(ctx, n.PodName, record.Name(n.PodName))
}

// giveUp removes the volumes whose claims are about to be deleted from the record, and reports whether that changed it. If the node is
// desired again before its record is deleted, it finds new claims, which are not lost storage. Once no volume is left, its storage may
// be formatted, like that of a new node.
func (t Removal) giveUp(ctx context.Context, n *observation.Node) (changed bool, err error) {
	if n.RecordBroken {
		return false, nil // it permits nothing to start
	}
	volumes := slices.Clone(n.Record.Volumes)
	for _, claim := range t.snapshot.Objects.Claims {
		id, is := render.ClaimVolume(claim.Name, n.PodName)
		if !is || claim.DeletionTimestamp != nil {
			continue
		}
		deleted, err := t.deletedWith(n, claim)
		if err != nil {
			return false, fmt.Errorf("releasing claim %s: %w", claim.Name, err)
		}
		if deleted {
			volumes = slices.DeleteFunc(volumes, func(v int32) bool { return v == id })
		}
	}
	if len(volumes) == len(n.Record.Volumes) {
		return false, nil
	}
	_, err = t.remember(ctx, n.ID, "giving up the storage of", func(r *record.Record) {
		r.Volumes = volumes
		if len(volumes) == 0 {
			r.Format, r.Replaced = record.FormatAllowed, nil
		}
	})
	return true, err
}

func (t Removal) releaseClaim(ctx context.Context, n *observation.Node, claim *corev1.PersistentVolumeClaim) error {
	deleted, err := t.deletedWith(n, claim)
	if err != nil {
		return fmt.Errorf("releasing claim %s: %w", claim.Name, err)
	}
	claim = claim.DeepCopy()
	switch {
	case deleted:
		return t.write.Delete(ctx, claim)
	case claim.Annotations[labels.Released] == "true":
		return nil
	}
	claim.Annotations = over(claim.Annotations, map[string]string{labels.Released: "true"})
	return t.write.Update(ctx, claim)
}

// deletedWith reports whether the claim is deleted with its node, which is what the node's pool says now. The annotation of the claim,
// which may be older, decides only for a claim that no pool declares any more.
func (t Removal) deletedWith(n *observation.Node, claim *corev1.PersistentVolumeClaim) (bool, error) {
	if t.snapshot.Pool(n.Pool) == nil {
		return render.DeletedWithNode(claim), nil
	}
	declared, err := t.snapshot.Rendered.Claims(n.ID)
	if err != nil {
		return false, err
	}
	for _, want := range declared {
		if want.Name == claim.Name {
			return render.DeletedWithNode(want), nil
		}
	}
	return render.DeletedWithNode(claim), nil
}

// remember changes the record of the node, unless it says so already.
func (t Removal) remember(ctx context.Context, id int32, doing string, change func(*record.Record)) (*observation.Node, error) {
	n := t.snapshot.Node(id)
	switch {
	case n == nil || !n.Recorded || n.RecordBroken:
		return nil, fmt.Errorf("%s node %d: %w: its record cannot be read", doing, id, lifecycle.ErrWait)
	case t.snapshot.Identity.Mismatch != nil:
		return nil, fmt.Errorf("%s %s: %w: %s", doing, n.PodName, lifecycle.ErrWait, t.snapshot.Identity.Mismatch.Message)
	}
	next := n.Record.Clone()
	change(&next)
	if next.Equal(&n.Record) {
		return n, nil
	}
	return n, t.writeRecord(ctx, n, &next)
}
