package kubelet

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Registry decides which images can be pulled. A World that does not implement it can pull every image.
type Registry interface {
	CanPull(image string) bool
}

// RollOut sets the status that a Deployment has after its rollout, and reports whether that changed it. Its pods are
// counted as available if every image can be pulled; no pods are created.
func RollOut(d *appsv1.Deployment, registry Registry) bool {
	before := d.Status.DeepCopy()
	replicas := int32(1)
	if d.Spec.Replicas != nil {
		replicas = *d.Spec.Replicas
	}
	s := &d.Status
	s.ObservedGeneration, s.Replicas, s.UpdatedReplicas = d.Generation, replicas, replicas
	s.ReadyReplicas, s.AvailableReplicas, s.UnavailableReplicas = replicas, replicas, 0
	missing := func(c corev1.Container) bool { return registry != nil && !registry.CanPull(c.Image) }
	if slices.ContainsFunc(d.Spec.Template.Spec.Containers, missing) {
		s.ReadyReplicas, s.AvailableReplicas, s.UnavailableReplicas = 0, 0, replicas
	}
	return !equality.Semantic.DeepEqual(before, s)
}

// deployments simulates the Deployment controller.
type deployments struct {
	client   client.Client
	registry Registry
}

// Reconcile writes the status of one Deployment. It requeues on a conflict.
func (r *deployments) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	d := &appsv1.Deployment{}
	if err := r.client.Get(ctx, request.NamespacedName, d); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if d = d.DeepCopy(); !RollOut(d, r.registry) {
		return reconcile.Result{}, nil
	}
	switch err := r.client.Status().Update(ctx, d); {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return reconcile.Result{RequeueAfter: behind}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("writing the status of Deployment %s: %w", request, err)
	}
	return reconcile.Result{}, nil
}
