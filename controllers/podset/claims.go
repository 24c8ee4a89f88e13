package podset

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// claimsKept returns ErrWait while a claim of the pod is being deleted on the API server: the pod would use storage that is about to be
// gone, or prevent its deletion. A claim that does not exist is no reason to wait, since a pod is not scheduled without it.
func (r *Reconciler) claimsKept(ctx context.Context, pod *corev1.Pod) error {
	for i := range pod.Spec.Volumes {
		mounted := pod.Spec.Volumes[i].PersistentVolumeClaim
		if mounted == nil {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		switch err := r.Live.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: mounted.ClaimName}, claim); {
		case lifecycle.ObjectMissing(err):
		case err != nil:
			return fmt.Errorf("reading claim %s of pod %s: %w", mounted.ClaimName, pod.Name, err)
		case claim.DeletionTimestamp != nil:
			return fmt.Errorf("creating pod %s: %w: its claim %s is being deleted", pod.Name, lifecycle.ErrWait, claim.Name)
		}
	}
	return nil
}
