package children

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/entryhash"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/recording"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// lostEntry returns the entry of a node that ran and has none: from its pod, else from its record. An entry that someone has edited is
// returned as the operator wrote it, else from the pod, and otherwise stays: no pod is created from it. A node that was stopped on
// purpose has lost nothing, and the entry of a node whose pool does not declare its disks is not created without them. While an
// earlier resource is being deleted, it is unknown whether anything must be restored.
func (t *scope) lostEntry(n *observation.Node) (entry corev1beta2.PodEntry, lost bool, err error) {
	if n.Entry.Exists && !n.Entry.Edited || n.Stopped() || recording.AdoptionOf(t.kafka, t.snapshot) != recording.Adopt {
		return entry, false, nil
	}
	if n.Entry.Edited {
		if written := t.snapshot.WrittenEntry(n); written != nil {
			return written.PodEntry, true, nil
		}
	}
	switch pod := observation.Named(t.snapshot.Objects.Pods, n.PodName); {
	case pod != nil && recording.HasLeftovers(n):
		entry, err = t.entryOf(n, pod)
		return entry, true, err
	case pod == nil && !n.Entry.Exists && t.snapshot.Restorable(n):
		return t.entryOfRecord(n)
	}
	return entry, false, nil
}

// entryOfRecord returns the entry of a node of which only its record is left. While what is declared may not be written, the node comes back
// only with the files that it last ran with: new ones would lack a value, or have one of which its process dies.
func (t *scope) entryOfRecord(n *observation.Node) (entry corev1beta2.PodEntry, lost bool, err error) {
	rendered, err := t.snapshot.Entry(n, n.Record.Version)
	if err != nil {
		return entry, false, err
	}
	if problem := observation.Unwritable(t.kafka, t.snapshot); problem != nil {
		intact, err := t.hasFiles(n, rendered.PodEntry)
		if err != nil {
			return entry, false, err
		}
		if !intact {
			t.apart = append(t.apart, refusal{fmt.Errorf("restoring %s, whose configuration was lost, would write what is refused: %s", n.PodName, problem.Message)})
			return entry, false, nil
		}
	}
	return rendered.PodEntry, true, nil
}

// hasFiles reports whether the node's ConfigMap has every key that the entry mounts, as the operator wrote it.
func (t *scope) hasFiles(n *observation.Node, entry corev1beta2.PodEntry) (bool, error) {
	have := observation.Named(t.snapshot.Objects.ConfigMaps, n.PodName)
	if have == nil {
		return false, nil
	}
	pod, err := entry.Pod()
	if err != nil {
		return false, err
	}
	known := contentHashes(have)
	return !slices.ContainsFunc(observation.ConfigKeys(&pod.Spec, pod.Name), func(key string) bool {
		content, exists := have.Data[key]
		return !exists || known[key] != "" && known[key] != render.ContentHash(content)
	}), nil
}

// entryOf returns the entry from which a running pod was created: the rendered one if its revision matches, else the pod as it
// runs. A pod without a revision is adopted unchanged and gets the revision that is rendered for its version now.
func (t *scope) entryOf(n *observation.Node, pod *corev1.Pod) (corev1beta2.PodEntry, error) {
	rendered, err := t.snapshot.Entry(n, n.Pod.Version)
	if err == nil && rendered.Revision == n.Pod.Revision {
		return rendered.PodEntry, nil
	}
	again := restorable(pod)
	again.Labels = over(again.Labels, n.RolesRunning.Labels())
	again.Annotations = over(again.Annotations, map[string]string{labels.KafkaVersion: n.Pod.Version})
	if n.Pod.Revision == "" && err == nil {
		again.Annotations = over(again.Annotations, map[string]string{labels.Revision: rendered.Revision})
	}
	return corev1beta2.NewPodEntry(again)
}

// restorable returns a running pod without the fields that Kubernetes has added, and without what concerns this pod alone.
func restorable(pod *corev1.Pod) *corev1.Pod {
	p := &corev1.Pod{}
	p.Name, p.Namespace, p.Labels, p.Annotations = pod.Name, pod.Namespace, pod.Labels, maps.Clone(pod.Annotations)
	delete(p.Annotations, labels.RollingUpdate) // a request is for this pod alone
	delete(p.Annotations, labels.DeletePodAndPVC)
	delete(p.Annotations, labels.Rack) // the next pod may be scheduled into another one
	p.Spec = *pod.Spec.DeepCopy()
	p.Spec.NodeName, p.Spec.Priority, p.Spec.PreemptionPolicy = "", nil, nil
	p.Spec.DeprecatedServiceAccount = ""
	p.Spec.EphemeralContainers = nil // of someone who debugged this pod; the API server creates no pod with them
	injected := func(name string) bool { return strings.HasPrefix(name, "kube-api-access-") }
	p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return injected(v.Name) })
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			containers[i].VolumeMounts = slices.DeleteFunc(containers[i].VolumeMounts, func(m corev1.VolumeMount) bool { return injected(m.Name) })
		}
	}
	return p
}

// repairPodSet writes the set if it, an entry or its selector was lost or edited, if an entry is there twice, if it has no owner, or if it has
// the mark of an abandoned restart. Without the mark the pod is recreated as it last ran.
func (t *scope) repairPodSet(ctx context.Context, pool string, set *corev1beta2.StrimziPodSet, entries []corev1beta2.PodEntry) error {
	if set == nil {
		if len(entries) == 0 {
			return nil
		}
		set = t.snapshot.Rendered.PodSet(pool).DeepCopy()
		set.Spec.Pods = entries
		entryhash.Seal(set, nil)
		return t.createOwned(ctx, set)
	}
	abandoned, want := t.abandoned(set), t.snapshot.Rendered.PodSet(pool)
	if len(entries) == 0 && !abandoned && t.isOwned(set) && !t.repeats(pool) && sameSelector(&set.Spec.Selector, &want.Spec.Selector) {
		return nil
	}
	before := set
	set = set.DeepCopy()
	catchUp(set, want)
	set.Spec.Selector = *want.Spec.Selector.DeepCopy()
	set.Spec.Pods = distinct(t.withoutEdits(pool, set.Spec.Pods, entries), entries)
	if abandoned {
		restarting.Remove(set)
	}
	if err := t.owned(set); err != nil {
		return err
	}
	return entryhash.Update(ctx, t.write, set, before)
}

// sameSelector compares labels without reflection, because every pass does so for every pool.
func sameSelector(a, b *metav1.LabelSelector) bool {
	return maps.Equal(a.MatchLabels, b.MatchLabels) && equality.Semantic.DeepEqual(a.MatchExpressions, b.MatchExpressions)
}

// repeats reports whether the set of the pool has more than one entry of a pod.
func (t *scope) repeats(pool string) bool {
	return slices.ContainsFunc(t.snapshot.Nodes, func(n observation.Node) bool { return n.Pool == pool && n.Entry.Repeated })
}

// distinct returns the entries of a set and the added ones, with the first entry of each pod only: whatever made an entry look lost, a
// set that has it must not grow. An unreadable entry stays, because nothing is known of it.
func distinct(have, added []corev1beta2.PodEntry) []corev1beta2.PodEntry {
	out := make([]corev1beta2.PodEntry, 0, len(have)+len(added))
	seen := make(map[string]bool, len(have)+len(added))
	for _, entry := range slices.Concat(have, added) {
		if pod, err := entry.Pod(); err == nil {
			if seen[pod.Name] {
				continue
			}
			seen[pod.Name] = true
		}
		out = append(out, entry)
	}
	return out
}

// abandoned reports whether the set has a mark although no lifecycle is restarting that pod, or needs to replace its entry.
func (t *scope) abandoned(set *corev1beta2.StrimziPodSet) bool {
	mark, readable := restarting.Of(set)
	if !readable {
		return restarting.On(set)
	}
	for i := range t.snapshot.Nodes {
		if n := &t.snapshot.Nodes[i]; n.PodName == mark.Pod {
			return !selected(t.kafka, n.ID, roll.RestartingNode) || t.unchanged(n, mark)
		}
	}
	return true
}

// unchanged reports whether the pod is gone and its entry is to stay as it is: node-roll restarted the node on request, and the
// process ended before the mark was removed.
func (t *scope) unchanged(n *observation.Node, mark restarting.Mark) bool {
	rolled := slices.ContainsFunc(t.kafka.Status.Lifecycles, func(e lifecyclev1.Lifecycle) bool {
		return e.Name == observation.LifecycleRoll && holds(&e, n.ID, roll.RestartingNode)
	})
	return rolled && n.Pod.UID != mark.UID && n.Entry.Exists && n.Entry.Revision == t.snapshot.WantedRevision(n)
}

// selected reports whether the node is the current one of a lifecycle in one of the states of a roll. In a paused cluster it never is.
func selected(kafka *kafkav1beta2.Kafka, id int32, in ...string) bool {
	return !lifecycle.IsPaused(kafka, labels.Pauses()...) && slices.ContainsFunc(kafka.Status.Lifecycles, func(e lifecyclev1.Lifecycle) bool {
		return holds(&e, id, in...)
	})
}

func holds(e *lifecyclev1.Lifecycle, id int32, in ...string) bool {
	return slices.Contains(in, e.State) && maps.Equal(e.Data, roll.Encode(roll.Data{Node: id}))
}

// emptyPodSets deletes the StrimziPodSets that are left from pools of which neither the KafkaNodePool nor a node exists.
func (t *scope) emptyPodSets(ctx context.Context) error {
	for _, set := range t.snapshot.Objects.PodSets {
		left := slices.ContainsFunc(t.pools(), func(pool string) bool { return render.PodSetName(t.kafka.Name, pool) == set.Name }) ||
			slices.ContainsFunc(t.snapshot.Objects.Pools, func(p *kafkav1beta2.KafkaNodePool) bool { return render.PodSetName(t.kafka.Name, p.Name) == set.Name })
		if left || len(set.Spec.Pods) > 0 || set.DeletionTimestamp != nil || !t.isOwned(set) {
			continue
		}
		if err := t.write.Delete(ctx, set.DeepCopy()); err != nil {
			return err
		}
	}
	return nil
}

// entries adds the entries of a pool's new nodes to its StrimziPodSet, except of those that are incomplete.
func (t *scope) entries(ctx context.Context, pool, version string, incomplete []int32) error {
	set := observation.Named(t.snapshot.Objects.PodSets, render.PodSetName(t.kafka.Name, pool))
	if set != nil && set.DeletionTimestamp != nil {
		return nil
	}
	var added []corev1beta2.PodEntry
	for i := range t.snapshot.Nodes {
		n := &t.snapshot.Nodes[i]
		if version == "" || n.Pool != pool || !startable(n) || slices.Contains(incomplete, n.ID) || t.recordLags(n, t.adoption) {
			continue
		}
		if err := t.nodeIsCurrent(ctx, n); err != nil {
			return err
		}
		entry, err := t.snapshot.Entry(n, version)
		if err != nil {
			return err
		}
		added = append(added, entry.PodEntry)
	}
	if set == nil {
		if len(added) == 0 {
			return nil
		}
		set = t.snapshot.Rendered.PodSet(pool).DeepCopy()
		set.Spec.Pods = added
		entryhash.Seal(set, nil)
		return t.createOwned(ctx, set)
	}
	want, request := t.snapshot.Rendered.PodSet(pool), t.request(pool, set)
	if len(added) == 0 && !metaBehind(set, want) && request == nil {
		return nil
	}
	before := set
	set = set.DeepCopy()
	catchUp(set, want)
	if request != nil {
		request(set)
	}
	set.Spec.Pods = distinct(set.Spec.Pods, added)
	if err := t.owned(set); err != nil {
		return err
	}
	return entryhash.Update(ctx, t.write, set, before)
}

// startable reports whether the node is new and its record exists, so that its entry is to be added. An entry whose pod could never be
// created would only make the cluster count as started, so that its controllers could not be replaced any more.
func startable(n *observation.Node) bool {
	return n.Wanted && n.Recorded && !n.Record.Started() && !n.Entry.Exists && !n.Pod.Exists && !n.NameTooLong()
}
