package podset

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/controllers/labels"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// remove removes a pod that has no entry, if its node's record on the API server says that the node was stopped on purpose. An
// entry that is missing for any other reason was lost. The removal is a disruption and needs the disruption lock of the cluster.
// The record is read again once the lock is acquired.
func (r *Reconciler) remove(ctx context.Context, pod *corev1.Pod, write lifecycle.Writer) error {
	stopped, err := r.stopped(ctx, pod)
	if err != nil || !stopped {
		return err
	}
	return r.Disrupt(ctx, pod, func() error {
		stopped, err := r.stopped(ctx, pod)
		if err != nil || !stopped {
			return err
		}
		return r.take(ctx, pod, write)
	})
}

// take evicts the pod, or deletes it if its eviction would be refused although it is not ready.
func (r *Reconciler) take(ctx context.Context, pod *corev1.Pod, write lifecycle.Writer) error {
	inVain, err := r.evictedInVain(ctx, pod)
	switch {
	case err != nil:
		return err
	case inVain:
		log.FromContext(ctx).Info("deleting the pod of a node that was stopped, which is not ready: its disruption budget permits no eviction", "pod", pod.Name)
		return write.Delete(ctx, pod.DeepCopy())
	}
	log.FromContext(ctx).Info("evicting the pod of a node that was stopped", "pod", pod.Name)
	return write.Evict(ctx, pod)
}

// evictedInVain reports whether the disruption budget of the cluster would refuse the eviction of the pod although the pod is not ready. The
// budget counts it among the pods that it requires, so that of two such pods none could ever be evicted. A pod that has become ready since
// it was observed is not deleted, because the deletion names the resourceVersion.
func (r *Reconciler) evictedInVain(ctx context.Context, pod *corev1.Pod) (bool, error) {
	if ready(pod) {
		return false, nil
	}
	budget := &policyv1.PodDisruptionBudget{}
	name := client.ObjectKey{Namespace: pod.Namespace, Name: labels.KafkaName(pod.Labels[labels.Cluster])}
	if err := r.Live.Get(ctx, name, budget); err != nil {
		if lifecycle.ObjectMissing(err) {
			return false, nil
		}
		return false, fmt.Errorf("reading PodDisruptionBudget %s before pod %s is evicted: %w", name, pod.Name, err)
	}
	return budget.Status.CurrentHealthy < budget.Status.DesiredHealthy, nil
}
