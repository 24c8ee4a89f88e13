package children

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/entryhash"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// podSet creates the set, adds the entries of new workers and removes those of workers that are not declared any more, with their pods. It
// restores the selector, without which the controller of the set sees no pods, and replaces entries that someone has edited by those that are
// rendered.
func (r *Reconciler) podSet(ctx context.Context, m *resource, v *observation.Snapshot, write lifecycle.Writer) error {
	entries := map[string]corev1beta2.PodEntry{}
	var names []string
	for i := range v.Rendered.Replicas() {
		name := render.PodName(m.Name, i)
		entry, _, err := v.Rendered.Entry(i)
		if err != nil {
			return err
		}
		entries[name], names = entry, append(names, name)
	}
	set := v.Rendered.PodSet()
	if v.Set != nil {
		if v.Set.DeletionTimestamp != nil {
			return nil
		}
		set = v.Set.DeepCopy()
	}
	have := present(set)
	maps.DeleteFunc(have, func(name string, entry corev1beta2.PodEntry) bool { return entryhash.Edited(set, name, entry) })
	selector := v.Rendered.PodSet().Spec.Selector
	var pods []corev1beta2.PodEntry
	for _, name := range names {
		if entry, found := have[name]; found {
			pods = append(pods, entry)
		} else {
			pods = append(pods, entries[name])
		}
	}
	same := len(pods) == len(set.Spec.Pods) && !slices.ContainsFunc(names, func(name string) bool { _, found := have[name]; return !found })
	same = same && equality.Semantic.DeepEqual(set.Spec.Selector, selector)
	set.Spec.Pods, set.Spec.Selector = pods, selector
	switch {
	case v.Set == nil:
		if err := write.Own(set); err != nil {
			return err
		}
		entryhash.Seal(set, nil)
		return write.Create(ctx, set)
	case !same || metav1.GetControllerOf(v.Set) == nil:
		if err := write.Own(set); err != nil {
			return err
		}
		return entryhash.Update(ctx, write, set, v.Set)
	}
	for _, pod := range v.Pods {
		if !slices.Contains(names, pod.Name) && pod.DeletionTimestamp == nil {
			return write.Delete(ctx, pod.DeepCopy())
		}
	}
	return nil
}

// present returns the readable entries of a set by the names of their pods.
func present(set *corev1beta2.StrimziPodSet) map[string]corev1beta2.PodEntry {
	out := map[string]corev1beta2.PodEntry{}
	for _, entry := range set.Spec.Pods {
		if pod, err := entry.Pod(); err == nil { // one that cannot be read is replaced
			out[pod.Name] = entry
		}
	}
	return out
}

// entry replaces the entry of a worker.
func (r *Reconciler) entry(ctx context.Context, v *observation.Snapshot, write lifecycle.Writer, worker string, entry corev1beta2.PodEntry) error {
	set := v.Set.DeepCopy()
	for i := range set.Spec.Pods {
		pod, err := set.Spec.Pods[i].Pod()
		if err != nil || pod.Name != worker || string(set.Spec.Pods[i].Raw) == string(entry.Raw) {
			continue
		}
		set.Spec.Pods[i] = entry
		return entryhash.Update(ctx, write, set, v.Set)
	}
	return nil
}
