package children

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
// existing objects that users would notice, so that it also runs while a change is refused or the cluster is paused. An annotation or label
// of a pod that cannot be restored keeps nothing else from being applied, and neither does an object of a node whose write is refused: Apply
// creates no claim and no entry of a node whose record is not as it should be.
func (r *Reconciler) Repair(ctx context.Context, kafka *kafkav1beta2.Kafka, snapshot *observation.Snapshot, write lifecycle.Writer) error {
	t := &scope{Reconciler: r, kafka: kafka, snapshot: snapshot, write: refusals{write}}
	var failures []error
	if t.snapshot.Identity.Mismatch == nil { // else it is not known whose records they are
		from, err := t.recordAdoption(ctx)
		if err != nil {
			return err
		}
		_, failed := t.records(ctx, from, func(n *observation.Node) bool { return n.Recorded || recording.Adoptable(t.kafka, t.snapshot, n) })
		if err := errors.Join(failed...); outdated(err) {
			return err
		}
		failures = append(failures, t.withoutRefusals(failed...))
	}
	for _, pool := range t.pools() {
		err := t.repairPool(ctx, pool)
		if outdated(err) {
			return err
		}
		failures = append(failures, err)
	}
	if lifecycle.IsPaused(kafka, labels.Pauses()...) { // else Apply updates the shared objects, and a failure there does not affect Repair
		failures = append(failures, t.network(ctx, false))
	}
	if err := errors.Join(failures...); err != nil {
		return errors.Join(append(t.apart, err)...)
	}
	return lifecycle.Apart(errors.Join(t.apart...))
}

// withoutRefusals adds the refused writes to those on which no other node depends, and returns the other failures.
func (t *scope) withoutRefusals(failed ...error) error {
	var failures []error
	for _, err := range failed {
		if errors.As(err, new(refusal)) {
			t.apart = append(t.apart, err)
		} else {
			failures = append(failures, err)
		}
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

// repairPool restores the StrimziPodSet of a pool, its entries, and the configurations that they mount. A node of which that fails keeps
// no other node from being restored.
func (t *scope) repairPool(ctx context.Context, pool string) error {
	set := observation.Named(t.snapshot.Objects.PodSets, render.PodSetName(t.kafka.Name, pool))
	if set != nil && set.DeletionTimestamp != nil {
		return nil // it is recreated after its deletion
	}
	var entries []corev1beta2.PodEntry
	var failures []error
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if n.Pool != pool {
			continue
		}
		switch entry, lost, err := t.restored(ctx, n); {
		case outdated(err):
			return err
		case err != nil:
			failures = append(failures, t.withoutRefusals(err))
		case lost:
			entries = append(entries, entry)
		}
		if err := t.stamp(ctx, n); outdated(err) {
			return err
		} else if err != nil {
			t.apart = append(t.apart, fmt.Errorf("putting the annotations and labels of pod %s back: %w", n.PodName, err))
		}
	}
	err := t.repairPodSet(ctx, pool, set, entries)
	if outdated(err) {
		return err
	}
	return errors.Join(append(failures, t.withoutRefusals(err))...)
}

// restored restores the configuration of a node, and returns its entry if that was lost.
func (t *scope) restored(ctx context.Context, n *observation.Node) (entry corev1beta2.PodEntry, lost bool, err error) {
	if err := t.repairConfig(ctx, n); err != nil {
		return entry, false, err
	}
	if entry, lost, err = t.lostEntry(n); err == nil && lost {
		err = t.nodeIsCurrent(ctx, n)
	}
	return entry, lost, err
}

// stamp restores the annotations and labels of a pod that record what it runs: its version, its revision and its roles. It also writes
// the rack that a scheduled pod waits for. The values
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
	rack, failure := t.rack(ctx, pod) // of the rest nothing depends on it
	if rack != "" {
		want[labels.Rack] = rack
	}
	if !behind(pod.Annotations, want) && !behind(pod.Labels, roles) {
		return failure
	}
	pod = pod.DeepCopy()
	pod.Annotations, pod.Labels = over(pod.Annotations, want), over(pod.Labels, roles)
	return cmp.Or(t.write.Update(ctx, pod), failure)
}

// rack returns the rack that a scheduled pod waits for, or none if it does not wait. What a user or Kubernetes has to correct is ErrWait:
// no back-off delays the broker after the correction, or the repair of the other nodes meanwhile.
func (t *scope) rack(ctx context.Context, pod *corev1.Pod) (string, error) {
	key, on := pod.Annotations[labels.RackTopologyKey], pod.Spec.NodeName
	if key == "" || on == "" || pod.Annotations[labels.Rack] != "" {
		return "", nil
	}
	node := &corev1.Node{}
	switch err := t.Live.Get(ctx, client.ObjectKey{Name: on}, node); {
	case apierrors.IsNotFound(err):
		return "", fmt.Errorf("%w: the broker does not start without a rack, and its node %s does not exist any more: delete the pod if Kubernetes does not, so that it is created again on another node", lifecycle.ErrWait, on)
	case apierrors.IsForbidden(err):
		return "", fmt.Errorf("%w: reading node %s for the rack of the broker, which needs the right to get nodes: %w", lifecycle.ErrWait, on, err)
	case err != nil:
		return "", fmt.Errorf("reading node %s for the rack of the broker: %w", on, err)
	}
	rack := node.Labels[key]
	if rack == "" {
		return "", fmt.Errorf("%w: the broker does not start without a rack, and node %s has no label %s: label the node, or change spec.kafka.rack.topologyKey", lifecycle.ErrWait, on, key)
	}
	return rack, nil
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
