package sequence

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/test/bench/sequence/api"
)

// ByHand reconciles a PlainSequence as an experienced author would: a switch on the phase, the phase written before its step, an
// optimistic lock on the status, and at most one status write per reconcile.
type ByHand struct {
	Client client.Client
	// Events receives one event per phase. Optional; default: none.
	Events events.EventRecorder
}

// SetupWithManager registers the reconciler. The creation of a ConfigMap does not enqueue its owner: the reconcile that creates it
// also writes the status, which does.
func (r *ByHand) SetupWithManager(mgr ctrl.Manager, workers int) error {
	changed := predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }}
	return ctrl.NewControllerManagedBy(mgr).For(&api.PlainSequence{}).Owns(&corev1.ConfigMap{}, builder.WithPredicates(changed)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).Complete(r)
}

// Reconcile implements reconcile.Reconciler.
func (r *ByHand) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := &api.PlainSequence{}
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if object.Status.ObservedGeneration != object.Generation {
		return r.enter(ctx, object, 1)
	}
	for n := 1; n <= Steps; n++ {
		if object.Status.Phase == step(n) {
			if err := r.write(ctx, object, n); err != nil {
				return reconcile.Result{}, err
			}
			return r.enter(ctx, object, n+1)
		}
	}
	return reconcile.Result{}, nil
}

// write creates or updates the ConfigMap of step n.
func (r *ByHand) write(ctx context.Context, object *api.PlainSequence, n int) error {
	want := child(object, n, object.Spec.Text)
	if err := controllerutil.SetControllerReference(object, want, r.Client.Scheme()); err != nil {
		return err
	}
	have := &corev1.ConfigMap{}
	switch err := r.Client.Get(ctx, client.ObjectKeyFromObject(want), have); {
	case apierrors.IsNotFound(err):
		return r.Client.Create(ctx, want)
	case err != nil:
		return err
	case have.Data["text"] != object.Spec.Text:
		have.Data = want.Data
		return r.Client.Update(ctx, have)
	}
	return nil
}

// enter writes the phase of step n.
func (r *ByHand) enter(ctx context.Context, object *api.PlainSequence, n int) (reconcile.Result, error) {
	object.Status.Phase, object.Status.ObservedGeneration = state(n), object.Generation
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: object.Status.Phase, ObservedGeneration: object.Generation}
	if n > Steps {
		ready.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&object.Status.Conditions, ready)
	if err := r.Client.Status().Update(ctx, object); err != nil {
		return reconcile.Result{}, fmt.Errorf("writing the status: %w", err)
	}
	if r.Events != nil {
		r.Events.Eventf(object, nil, corev1.EventTypeNormal, "Entered"+object.Status.Phase, "enter", "%s", "the phase is "+object.Status.Phase)
	}
	return reconcile.Result{}, nil
}
