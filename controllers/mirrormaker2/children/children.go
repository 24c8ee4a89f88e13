// Package children creates and updates the objects of a KafkaMirrorMaker2: of its workers, and the ConfigMaps in which offsets are listed
// and kept. It also replaces the pod of a worker.
package children

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/controllers/mirrormaker2/facts"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Reconciler writes the objects. One instance serves all resources of a process.
type Reconciler struct {
	// Client patches the annotations of resources. Required.
	Client client.Client
	// Live reads from the API server. Required.
	Live client.Reader
}

type resource = kafkav1beta2.KafkaMirrorMaker2

// Apply applies the objects of the workers, and removes what is left of requests that were withdrawn. The entries of running workers stay:
// only their replacement changes them. While the spec is refused, the objects are those of the spec that was applied last, so that what is lost
// returns as it was.
func (r *Reconciler) Apply(ctx context.Context, m *resource, v *observation.Snapshot, write lifecycle.Writer) error {
	if err := r.processes(ctx, m, v, write); err != nil {
		return err
	}
	if err := r.forget(ctx, m, v); err != nil {
		return err
	}
	if v.Rendered.Problem == nil {
		record, err := v.Rendered.Applied()
		if err != nil {
			return err
		}
		if err := write.Apply(ctx, record); err != nil {
			return err
		}
		return r.workers(ctx, m, v, write)
	}
	if v.Applied == nil {
		return nil
	}
	rendered, err := render.Restore(m.Namespace, m.Name, v.Applied)
	if err != nil {
		return err
	}
	restored := *v
	restored.Rendered = rendered
	return r.workers(ctx, m, &restored, write)
}

// workers applies the objects of the workers as they are rendered.
func (r *Reconciler) workers(ctx context.Context, m *resource, v *observation.Snapshot, write lifecycle.Writer) error {
	for _, o := range v.Rendered.Objects() {
		if err := write.Apply(ctx, o); err != nil {
			return err
		}
	}
	if err := write.Apply(ctx, v.Rendered.ConfigMap(mounted(v))); err != nil {
		return err
	}
	return r.podSet(ctx, m, v, write)
}

// Repair restores lost objects of a paused resource, whose Apply does not run. It restores them only as they last ran: while a generation is
// not observed, what the spec declares may be a change, which waits until the resource is resumed.
func (r *Reconciler) Repair(ctx context.Context, m *resource, v *observation.Snapshot, write lifecycle.Writer) error {
	if !lifecycle.IsPaused(m, labels.Pauses()...) || m.Status.ObservedGeneration != m.Generation {
		return nil
	}
	return r.Apply(ctx, m, v, write)
}

// processes records the worker processes before anything relies on the record.
func (r *Reconciler) processes(ctx context.Context, m *resource, v *observation.Snapshot, write lifecycle.Writer) error {
	data := v.ProcessData()
	if v.Recorded == nil && len(data) == 0 || v.Recorded != nil && maps.Equal(v.Recorded.Data, data) {
		return nil
	}
	return write.Apply(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: render.ProcessesName(m.Name), Namespace: m.Namespace, Labels: render.Labels(m.Name)}, Data: data,
	})
}

// mounted returns the stored configurations that a pod or an entry still mounts.
func mounted(v *observation.Snapshot) map[string]string {
	if v.Config == nil {
		return nil
	}
	pods := slices.Clone(v.Pods)
	if v.Set != nil {
		for i := range v.Set.Spec.Pods {
			if pod, err := v.Set.Spec.Pods[i].Pod(); err == nil { // no pod is created from one that cannot be read
				pods = append(pods, pod)
			}
		}
	}
	keys := map[string]bool{}
	for _, pod := range pods {
		for _, key := range render.ConfigKeys(pod, v.Config.Name) {
			keys[key] = true
		}
	}
	out := maps.Clone(v.Config.Data)
	maps.DeleteFunc(out, func(key, _ string) bool { return !keys[key] })
	return out
}

// Replace replaces the pod of a worker: first its entry, from which the pod is created again, then the pod.
func (r *Reconciler) Replace(ctx context.Context, m *resource, v *observation.Snapshot, write lifecycle.Writer, worker string) error {
	if v.Set == nil {
		return lifecycle.ErrStale
	}
	for i := range v.Rendered.Replicas() {
		if render.PodName(m.Name, i) != worker {
			continue
		}
		entry, _, err := v.Rendered.Entry(i)
		if err != nil {
			return err
		}
		if err := r.entry(ctx, v, write, worker, entry); err != nil {
			return err
		}
	}
	return r.Restart(ctx, v, write, worker)
}

// Restart removes the pod of a worker. It is created again from its entry. A ready one is evicted, so that the disruption budget counts it
// together with the drain of a host: while the budget permits no eviction, Restart returns ErrWait. One that is not ready is deleted.
func (r *Reconciler) Restart(ctx context.Context, v *observation.Snapshot, write lifecycle.Writer, worker string) error {
	pod := facts.Pod(v, worker)
	if pod == nil || pod.DeletionTimestamp != nil {
		return nil
	}
	if facts.Ready(pod) {
		return write.Evict(ctx, pod.DeepCopy())
	}
	return write.Delete(ctx, pod.DeepCopy())
}
