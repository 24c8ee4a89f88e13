package children

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/entryhash"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Restart replaces the pod of a node by one for the given version, with the desired state as of now. The snapshot must be live.
//
// The order makes a crash at any point harmless. First the new configuration is added next to the old one. Then the StrimziPodSet
// is marked, which prevents the creation of a replacement for this pod. Then the pod is evicted. Only after that its entry is
// replaced and the mark removed, in one write. Therefore a pod that is lost before the eviction is recreated as it last ran. An
// evicted pod is not recreated until its entry is replaced, by this Restart or by the next one. If there is no next one, because
// the change was reverted, the mark expires and the pod is recreated as it last ran.
//
// Before it sets the mark, Restart sends the new pod to the API server as a dry run. If that is rejected, the running pod stays.
//
// If the pod already has its desired state and no user requested its restart, Restart only removes the mark. If the disruption budget
// refuses the eviction, and while Kafka is asked whether it takes the declared configurations, it returns ErrWait.
func (r *Reconciler) Restart(ctx context.Context, kafka *kafkav1beta2.Kafka, snapshot *observation.Snapshot, write lifecycle.Writer, id int32, version string) error {
	t := &scope{Reconciler: r, kafka: kafka, snapshot: snapshot, write: write}
	n := snapshot.Node(id)
	if n == nil {
		return fmt.Errorf("restarting node %d: there is no such node", id)
	}
	if problem := cmp.Or(observation.Foreign(snapshot), snapshot.Misplaced(n), snapshot.MovedMetadataLog(n)); problem != nil {
		return fmt.Errorf("restarting %s: %s", n.PodName, problem.Message)
	}
	if err := t.judged(n, "restarting"); err != nil {
		return err
	}
	entry, err := snapshot.Entry(n, version)
	if err != nil {
		return err
	}
	set := observation.Named(snapshot.Objects.PodSets, render.PodSetName(kafka.Name, n.Pool))
	if set == nil || !n.Entry.Exists {
		return fmt.Errorf("restarting %s: %w: its StrimziPodSet has no entry for it yet", n.PodName, lifecycle.ErrWait)
	}
	set = set.DeepCopy()
	if err := t.addConfig(ctx, n); err != nil {
		return err
	}
	pod := observation.Named(snapshot.Objects.Pods, n.PodName)
	if pod != nil && !n.Pod.Terminating && (n.Pod.Revision != entry.Revision || n.Pod.RestartDue) {
		if set, err = t.evict(ctx, n, pod, set, entry); err != nil {
			return err
		}
	}
	return t.switchEntry(ctx, n, set, entry)
}

// judged returns ErrWait while Kafka is being asked whether it takes the declared configurations, with which the node would be started.
func (t *scope) judged(n *observation.Node, doing string) error {
	if observation.AcceptanceOf(t.kafka, t.snapshot) != observation.Asking {
		return nil
	}
	return fmt.Errorf("%s %s: %w: Kafka is being asked whether it takes the values of spec.kafka.config. If this lasts, the lifecycle %s shows why",
		doing, n.PodName, lifecycle.ErrWait, observation.LifecycleConfiguration)
}

// evict marks the set and evicts the pod. It returns the set as written.
func (t *scope) evict(ctx context.Context, n *observation.Node, pod *corev1.Pod, set *corev1beta2.StrimziPodSet, entry *render.Entry) (*corev1beta2.StrimziPodSet, error) {
	if n.Pod.Ready && t.exhausted() {
		return set, fmt.Errorf("restarting %s: %w: its disruption budget allows none now", n.PodName, lifecycle.ErrWait)
	}
	if err := t.dryRun(ctx, pod, madeFrom(n, pod, set), entry); err != nil {
		return set, fmt.Errorf("restarting %s: its pod stays, since the API server was asked beforehand whether it takes the new one: %w", n.PodName, err)
	}
	mark, marked := restarting.Of(set)
	if !marked || mark.Pod != n.PodName || mark.UID != pod.UID || mark.Left(t.snapshot.Now) < restarting.Limit/2 {
		restarting.Mark{Pod: n.PodName, UID: pod.UID, Since: t.snapshot.Now}.Set(set)
		if err := t.write.Update(ctx, set); err != nil {
			return set, err
		}
	}
	return set, t.take(ctx, n, pod)
}

// madeFrom returns the entry from which the pod of a node was created, without what admission added to the pod; the pod itself if its entry
// is another one.
func madeFrom(n *observation.Node, pod *corev1.Pod, set *corev1beta2.StrimziPodSet) *corev1.Pod {
	if n.Entry.Edited || n.Entry.Revision != n.Pod.Revision {
		return pod
	}
	for i := range set.Spec.Pods {
		if made, err := set.Spec.Pods[i].Pod(); err == nil && made.Name == n.PodName {
			return made
		}
	}
	return pod
}

// take evicts the pod of a node, or deletes it if its eviction would be refused although it is not ready.
func (t *scope) take(ctx context.Context, n *observation.Node, pod *corev1.Pod) error {
	if !n.Pod.Ready && t.belowBudget() {
		return t.write.Delete(ctx, pod)
	}
	return t.write.Evict(ctx, pod)
}

// exhausted reports whether the disruption budget is current and permits no disruption, so that an eviction would be refused.
func (t *scope) exhausted() bool {
	b := observation.Named(t.snapshot.Objects.Budgets, labels.KafkaName(t.kafka.Name))
	return b != nil && b.Generation > 0 && b.Status.ObservedGeneration == b.Generation && b.Status.DisruptionsAllowed < 1
}

// belowBudget reports whether fewer pods are ready than the disruption budget requires. The eviction of an unready pod would be
// refused while that lasts, although Kafka's state permits the restart, and this restart may be what makes the pods ready.
func (t *scope) belowBudget() bool {
	b := observation.Named(t.snapshot.Objects.Budgets, labels.KafkaName(t.kafka.Name))
	return b != nil && b.Status.CurrentHealthy < b.Status.DesiredHealthy
}

// switchEntry replaces the entry of the node and removes its mark.
func (t *scope) switchEntry(ctx context.Context, n *observation.Node, set *corev1beta2.StrimziPodSet, entry *render.Entry) error {
	mark, marked := restarting.Of(set)
	unmark := marked && mark.Pod == n.PodName
	if !unmark && n.Entry.Revision == entry.Revision && !n.Entry.Edited {
		return nil
	}
	before := set.DeepCopy()
	if unmark {
		restarting.Remove(set)
	}
	set.Spec.Pods = slices.Clone(set.Spec.Pods)
	for i := range set.Spec.Pods {
		if pod, err := set.Spec.Pods[i].Pod(); err == nil && pod.Name == n.PodName {
			set.Spec.Pods[i] = entry.PodEntry
		}
	}
	return entryhash.Update(ctx, t.write, set, before)
}
