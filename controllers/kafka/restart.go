package kafka

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Restart replaces the pod of a node by one made for the version, from what is wanted now. The view must be live.
//
// The order makes every crash harmless. First the new configuration is laid beside the old one. Then the StrimziPodSet is
// marked: nothing is created in place of this pod for now. Then the pod is evicted, and only after that its entry is
// switched and the mark removed, in one write. So a pod that is lost before it was evicted comes back exactly as it last
// ran; one that was evicted stays away until its entry was switched, by this Restart or by the next one; and when there is
// no next one, because the change was taken back, the mark goes and the pod comes back as it last ran.
//
// Before the mark the API server is asked whether it would take the new pod at all. If it would not, the pod that runs stays.
//
// Restart of a pod that is already as wanted only removes the mark. A refusal by a disruption budget is ErrWait.
func (e *Effects) Restart(ctx context.Context, kafka *kafkav1beta2.Kafka, view *View, write lifecycle.Writer, id int32, version string) error {
	t := &tending{Effects: e, kafka: kafka, view: view, write: write}
	n := view.Node(id)
	if n == nil {
		return fmt.Errorf("restarting node %d: there is no such node", id)
	}
	for _, text := range []string{foreign(view), view.misplaced(n)} {
		if text != "" {
			return fmt.Errorf("restarting %s: %s", n.PodName, text)
		}
	}
	entry, err := view.entry(n, version)
	if err != nil {
		return err
	}
	set := named(view.Objects.PodSets, render.PodSetName(kafka.Name, n.Pool))
	if set == nil || !n.Entry.Exists {
		return fmt.Errorf("restarting %s: %w: its StrimziPodSet has no entry for it yet", n.PodName, lifecycle.ErrWait)
	}
	set = set.DeepCopy()
	if err := t.addConfig(ctx, n); err != nil {
		return err
	}
	pod := named(view.Objects.Pods, n.PodName)
	if pod != nil && !n.Pod.Terminating && n.Pod.Revision != entry.Revision {
		if set, err = t.evict(ctx, n, pod, set, entry); err != nil {
			return err
		}
	}
	return t.switchEntry(ctx, n, set, entry)
}

// evict marks the set and asks for the pod to go. It returns the set as written.
func (t *tending) evict(ctx context.Context, n *Node, pod *corev1.Pod, set *corev1beta2.StrimziPodSet, entry *render.Entry) (*corev1beta2.StrimziPodSet, error) {
	if n.Pod.Ready && t.exhausted() {
		return set, fmt.Errorf("restarting %s: %w: its disruption budget allows none now", n.PodName, lifecycle.ErrWait)
	}
	if err := t.rehearse(ctx, pod, entry); err != nil {
		return set, fmt.Errorf("restarting %s: its pod stays, since the API server was asked beforehand whether it takes the new one: %w", n.PodName, err)
	}
	mark, marked := restarting.Of(set)
	if !marked || mark.Pod != n.PodName || mark.UID != pod.UID || mark.Left(t.view.Now) < restarting.Limit/2 {
		restarting.Mark{Pod: n.PodName, UID: pod.UID, Since: t.view.Now}.Set(set)
		if err := t.write.Update(ctx, set); err != nil {
			return set, err
		}
	}
	if !n.Pod.Ready && t.belowBudget() {
		return set, t.write.Delete(ctx, pod)
	}
	return set, t.write.Evict(ctx, pod)
}

// exhausted says that the disruption budget has counted its pods and allows no disruption: asking would change nothing.
func (t *tending) exhausted() bool {
	b := named(t.view.Objects.Budgets, labels.KafkaName(t.kafka.Name))
	return b != nil && b.Generation > 0 && b.Status.ObservedGeneration == b.Generation && b.Status.DisruptionsAllowed < 1
}

// belowBudget says that fewer pods are ready than the disruption budget demands. The eviction of a pod that is not ready would then be
// refused for as long as that lasts, although Kafka itself has been asked whether the node may go, and this restart may be what
// makes the pods ready.
func (t *tending) belowBudget() bool {
	b := named(t.view.Objects.Budgets, labels.KafkaName(t.kafka.Name))
	return b != nil && b.Status.CurrentHealthy < b.Status.DesiredHealthy
}

// switchEntry replaces the entry of the node and removes its mark.
func (t *tending) switchEntry(ctx context.Context, n *Node, set *corev1beta2.StrimziPodSet, entry *render.Entry) error {
	mark, marked := restarting.Of(set)
	unmark := marked && mark.Pod == n.PodName
	if !unmark && n.Entry.Revision == entry.Revision {
		return nil
	}
	if unmark {
		restarting.Remove(set)
	}
	set.Spec.Pods = slices.Clone(set.Spec.Pods)
	for i := range set.Spec.Pods {
		if pod, err := set.Spec.Pods[i].Pod(); err == nil && pod.Name == n.PodName {
			set.Spec.Pods[i] = entry.PodEntry
		}
	}
	return t.write.Update(ctx, set)
}

// addConfig lays the wanted configuration of the node beside what its ConfigMap holds.
func (t *tending) addConfig(ctx context.Context, n *Node) error {
	want, err := t.view.rendered.ConfigMap(n.ID)
	if err != nil {
		return err
	}
	have := named(t.view.Objects.ConfigMaps, n.PodName)
	switch {
	case have == nil:
		return t.createOwned(ctx, want)
	case !behind(have.Data, want.Data):
		return nil
	}
	have = have.DeepCopy()
	have.Data = over(have.Data, want.Data)
	return t.write.Update(ctx, have)
}

// inHand says whether some lifecycle is restarting the node right now. While the cluster is paused nobody is.
func inHand(kafka *kafkav1beta2.Kafka, id int32) bool {
	return !paused(kafka) && slices.ContainsFunc(kafka.Status.Lifecycles, func(e lifecyclev1.Lifecycle) bool {
		return e.State == roll.RestartingNode && maps.Equal(e.Memo, roll.Encode(roll.Memo{Node: id}))
	})
}

// paused says whether a person has paused the cluster.
func paused(kafka *kafkav1beta2.Kafka) bool {
	a := kafka.Annotations
	return a[lifecycle.PauseAnnotation] == "true" || a[lifecycle.StrimziPauseAnnotation] == "true"
}
