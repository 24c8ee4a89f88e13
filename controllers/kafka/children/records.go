package children

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/recording"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// recordAdoption requires evidence from the API server that nothing is left before records start over: it reads pods and claims
// by name, independently of their labels.
func (t *scope) recordAdoption(ctx context.Context) (recording.Adoption, error) {
	seen := recording.AdoptionOf(t.kafka, t.snapshot)
	if seen == recording.Wait {
		t.leaving = recording.Leaving(t.kafka, t.snapshot)
	}
	if seen != recording.StartOver {
		return seen, nil
	}
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if !n.Recorded {
			continue
		}
		for _, name := range t.claimNames(n) {
			if left, err := t.left(ctx, &corev1.PersistentVolumeClaim{}, name); err != nil || left != recording.StartOver {
				return left, err
			}
		}
		if left, err := t.left(ctx, &corev1.Pod{}, n.PodName); err != nil || left != recording.StartOver {
			return left, err
		}
	}
	return recording.StartOver, nil
}

// left returns what the object's existence on the API server means. On an error nothing is decided.
func (t *scope) left(ctx context.Context, o client.Object, name string) (recording.Adoption, error) {
	err := t.Live.Get(ctx, client.ObjectKey{Namespace: t.kafka.Namespace, Name: name}, o)
	switch {
	case lifecycle.ObjectMissing(err):
		return recording.StartOver, nil
	case err != nil:
		return recording.Wait, fmt.Errorf("finding out whether %T %s is left of an earlier Kafka %s: %w", o, name, t.kafka.Name, err)
	case o.GetDeletionTimestamp() != nil:
		t.leaving = o
		return recording.Wait, nil
	}
	return recording.Adopt, nil
}

// awaitLeaving returns ErrWait with the object of an earlier resource that is being deleted, and what keeps it. Nothing is created
// meanwhile: the object may be deleted with the storage of the cluster, or the cluster may keep it.
func (t *scope) awaitLeaving() error {
	o := t.leaving
	kind := "Pod"
	if _, is := o.(*corev1.PersistentVolumeClaim); is {
		kind = "PersistentVolumeClaim"
	}
	state := "is owned by it and still exists"
	if o.GetDeletionTimestamp() != nil {
		state = "is being deleted"
	}
	if finalizers := o.GetFinalizers(); len(finalizers) > 0 {
		state += ", and is kept by its finalizers " + strings.Join(finalizers, ", ")
	}
	return fmt.Errorf("creating nodes after an earlier Kafka of the name %s, of which %s %s %s: %w", t.kafka.Name, kind, o.GetName(), state, lifecycle.ErrWait)
}

// claimNames returns the claims that a node may have had: those of the volumes in its record, in either form, and those that its
// pool declares.
func (t *scope) claimNames(n *observation.Node) []string {
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

// records writes the changed records of the selected nodes, and returns the nodes whose record could not be written, with an error of each. One
// of them keeps no other from being recorded. Only what is outdated ends it at once, and is then the only error.
func (t *scope) records(ctx context.Context, from recording.Adoption, of func(*observation.Node) bool) (unrecorded []int32, failures []error) {
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if !of(n) {
			continue
		}
		r := recording.Next(t.kafka, t.snapshot, n, from)
		if n.Recorded && !n.RecordBroken && n.Record.Equal(&r) {
			continue
		}
		switch err := t.writeRecord(ctx, n, &r); {
		case outdated(err):
			return nil, []error{err}
		case err != nil:
			unrecorded, failures = append(unrecorded, n.ID), append(failures, err)
		}
	}
	return unrecorded, failures
}

// isNew reports whether nothing exists of a desired node. Apply creates its record; Repair writes those of all other nodes.
func isNew(n *observation.Node) bool {
	return n.Wanted && !n.Recorded && !recording.HasLeftovers(n) && !n.Pod.Exists
}

// recordLags reports whether the observed record of an existing node does not say what it should: it was just written, or its write was
// refused. No claim and no entry of such a node is created: by an old record its storage may be formatted although it was in use.
func (t *scope) recordLags(n *observation.Node, from recording.Adoption) bool {
	if !n.Recorded {
		return !isNew(n)
	}
	r := recording.Next(t.kafka, t.snapshot, n, from)
	return n.RecordBroken || !n.Record.Equal(&r)
}

func (t *scope) writeRecord(ctx context.Context, n *observation.Node, r *record.Record) error {
	want := t.snapshot.Rendered.Record(r)
	have := observation.Named(t.snapshot.Objects.ConfigMaps, want.Name)
	if have == nil {
		if err := t.nodeIsCurrent(ctx, n); err != nil {
			return err
		}
		return t.create(ctx, want)
	}
	have = have.DeepCopy()
	catchUp(have, want)
	have.Data = over(have.Data, want.Data)
	if err := t.write.Update(ctx, have); err != nil {
		return fmt.Errorf("remembering %s: %w", n.PodName, err)
	}
	return nil
}

// AllowFormat permits formatting in the record of the node: its init container reads it at its next start. What the record knows of
// volumes stays, which distinguishes this permission from that of a new node. The snapshot must be live.
func (r *Reconciler) AllowFormat(ctx context.Context, kafka *kafkav1beta2.Kafka, snapshot *observation.Snapshot, write lifecycle.Writer, id int32) error {
	level := ""
	if n := snapshot.Node(id); n != nil {
		level = recording.FormatMetadata(kafka, snapshot, n)
	}
	_, err := r.Removal(kafka, snapshot, write).remember(ctx, id, "permitting to format the storage of", func(r *record.Record) {
		r.Format, r.Metadata = record.FormatAllowed, level
	})
	return err
}
