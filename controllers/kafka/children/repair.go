package children

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/recording"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Repair restores lost objects of a cluster as they last were: records, configurations, StrimziPodSets and their entries,
// Services. It updates the records with what is observed running. It creates no new node, replaces no entry and makes no change of
// existing objects that users would notice, so that it also runs while a change is refused or the cluster is paused.
func (r *Reconciler) Repair(ctx context.Context, kafka *kafkav1beta2.Kafka, snapshot *observation.Snapshot, write lifecycle.Writer) error {
	t := &scope{Reconciler: r, kafka: kafka, snapshot: snapshot, write: write}
	if err := t.records(ctx, func(n *observation.Node) bool { return n.Recorded || recording.Adoptable(t.kafka, t.snapshot, n) }); err != nil {
		return err
	}
	var failures []error
	for _, pool := range t.pools() {
		err := t.repairPool(ctx, pool)
		if outdated(err) {
			return err
		}
		failures = append(failures, err)
	}
	if lifecycle.IsPaused(kafka, labels.Pause) { // else Apply updates the shared objects, and a failure there does not affect Repair
		failures = append(failures, t.network(ctx, false))
	}
	return errors.Join(failures...)
}

// pools returns the sorted names of all pools of which a node is left.
func (t *scope) pools() []string {
	names := make([]string, 0, len(t.snapshot.Objects.Pools))
	for i := range t.snapshot.Nodes {
		if pool := t.snapshot.Nodes[i].Pool; !slices.Contains(names, pool) {
			names = append(names, pool)
		}
	}
	slices.Sort(names)
	return names
}

// repairPool restores the StrimziPodSet of a pool, its entries, and the configurations that they mount.
func (t *scope) repairPool(ctx context.Context, pool string) error {
	set := observation.Named(t.snapshot.Objects.PodSets, render.PodSetName(t.kafka.Name, pool))
	if set != nil && set.DeletionTimestamp != nil {
		return nil // it is recreated after its deletion
	}
	var entries []corev1beta2.PodEntry
	var failures []error // failures to restore annotations, on which nothing else depends
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if n.Pool != pool {
			continue
		}
		if err := t.repairConfig(ctx, n); err != nil {
			return err
		}
		entry, lost, err := t.lostEntry(n)
		if err != nil {
			return err
		}
		if lost {
			entries = append(entries, entry)
		}
		if err := t.stamp(ctx, n); outdated(err) {
			return err
		} else if err != nil {
			failures = append(failures, fmt.Errorf("putting the annotations and labels of pod %s back: %w", n.PodName, err))
		}
	}
	return errors.Join(append(failures, t.repairPodSet(ctx, pool, set, entries))...)
}

// stamp restores the annotations and labels of a pod that record what it runs: its version, its revision and its roles. The values
// come from what the operator wrote, and from the pod itself only if it is being adopted. The labels determine to which pods the
// bootstrap Service sends clients. The pod keeps running.
func (t *scope) stamp(ctx context.Context, n *observation.Node) error {
	if !n.Pod.Exists || n.Pod.Terminating || n.Pod.Foreign || n.Pod.Version == "" || n.Pod.Contradiction != nil {
		return nil
	}
	want := map[string]string{labels.KafkaVersion: n.Pod.Version}
	if revision := t.revision(n); revision != "" {
		want[labels.Revision] = revision
	}
	pod, roles := observation.Named(t.snapshot.Objects.Pods, n.PodName), n.RolesRunning.Labels()
	if !behind(pod.Annotations, want) && !behind(pod.Labels, roles) {
		return nil
	}
	pod = pod.DeepCopy()
	pod.Annotations, pod.Labels = over(pod.Annotations, want), over(pod.Labels, roles)
	return t.write.Update(ctx, pod)
}

// revision returns the revision for the annotation of the node's pod: its own, else that of its entry, else for an adopted pod the
// one rendered for its version now. It is empty if its entry has another version or its pool was deleted.
func (t *scope) revision(n *observation.Node) string {
	switch {
	case n.Pod.Revision != "":
		return n.Pod.Revision
	case n.Entry.Exists && n.Entry.Version != n.Pod.Version:
		return ""
	case n.Entry.Revision != "":
		return n.Entry.Revision
	}
	entry, err := t.snapshot.Entry(n, n.Pod.Version)
	if err != nil {
		return ""
	}
	return entry.Revision
}
