package podset

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// lingers exceeds the time that the deletion of a claim without a pod usually takes.
const lingers = time.Minute

// lingering wraps ErrWait for a claim whose deletion takes longer than that: somebody else's finalizer may keep it for ever, so that the
// node is not about to start.
type lingering struct{ error }

// Unwrap returns the cause.
func (l lingering) Unwrap() error { return l.error }

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
			err := fmt.Errorf("creating pod %s/%s: %w: its claim %s is being deleted, and has the finalizers %s", pod.Namespace, pod.Name,
				lifecycle.ErrWait, claim.Name, strings.Join(claim.Finalizers, ", "))
			if r.Clock.Now().Before(claim.DeletionTimestamp.Add(lingers)) {
				return err
			}
			return lingering{err}
		}
	}
	return nil
}
