package kubelet

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// protection is the finalizer that the API server adds to every claim. The controller that removes it does not
// run locally. Source: the admission plugin StorageObjectInUseProtection.
const protection = "kubernetes.io/pvc-protection"

// claimRetry is the interval at which the pods of a deleted claim are checked.
const claimRetry = time.Second

// provisioner binds every claim at once, and releases a deleted one when no pod uses it.
type provisioner struct {
	client client.Client
	live   client.Reader
	world  World
}

func (r *provisioner) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	claim := &corev1.PersistentVolumeClaim{}
	if err := r.client.Get(ctx, request.NamespacedName, claim); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var err error
	var again reconcile.Result
	switch {
	case claim.DeletionTimestamp != nil:
		again, err = r.release(ctx, claim)
	case claim.Status.Phase != corev1.ClaimBound || claim.Status.Capacity.Storage().Cmp(*claim.Spec.Resources.Requests.Storage()) != 0:
		err = r.bind(ctx, claim)
	}
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return reconcile.Result{RequeueAfter: behind}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("provisioning claim %s: %w", request, err)
	}
	return again, nil
}

func (r *provisioner) bind(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	bound := claim.DeepCopy()
	bound.Status.Phase, bound.Status.AccessModes = corev1.ClaimBound, claim.Spec.AccessModes
	bound.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: *claim.Spec.Resources.Requests.Storage()}
	return r.client.Status().Update(ctx, bound)
}

// release removes the finalizer from a claim that no pod mounts any more, and deletes the data. It requeues while
// a pod mounts the claim.
func (r *provisioner) release(ctx context.Context, claim *corev1.PersistentVolumeClaim) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(claim, protection) {
		return reconcile.Result{}, nil
	}
	pods := &corev1.PodList{}
	if err := r.live.List(ctx, pods, client.InNamespace(claim.Namespace)); err != nil {
		return reconcile.Result{}, err
	}
	for i := range pods.Items {
		if mountsClaim(&pods.Items[i], claim.Name) {
			return reconcile.Result{RequeueAfter: claimRetry}, nil
		}
	}
	freed := claim.DeepCopy()
	controllerutil.RemoveFinalizer(freed, protection)
	if err := r.client.Update(ctx, freed); err != nil {
		return reconcile.Result{}, err
	}
	r.world.DiskGone(claim.UID)
	return reconcile.Result{}, nil
}

func mountsClaim(pod *corev1.Pod, name string) bool {
	for i := range pod.Spec.Volumes {
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil && c.ClaimName == name {
			return true
		}
	}
	return false
}
