package runtime

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/detent-dev/detent/machines"
)

// Finalizer is on an object while a lifecycle has something to release before the object is deleted (machines.Deletion). Only
// the runtime adds and removes it.
const Finalizer = "detent.dev/lifecycle"

// lacksFinalizer reports whether the finalizer must be added before the effects of the action.
func (p *reconcileScope[O, S, E]) lacksFinalizer(action machines.ActionInfo) bool {
	return action.NeedsFinalizer && !p.in.Deleting && !controllerutil.ContainsFinalizer(p.object, Finalizer)
}

// addFinalizer adds the finalizer before an effect that needs it. It returns ErrStale after the write: the effect is executed
// once the cache shows the finalizer.
func (p *reconcileScope[O, S, E]) addFinalizer(ctx context.Context) error {
	if err := p.patchFinalizer(ctx, controllerutil.AddFinalizer); err != nil {
		return fmt.Errorf("adding the finalizer to %s %s: %w", p.kind.Name, p.key(), err)
	}
	return ErrStale
}

// removeFinalizer removes the finalizer of an object that has nothing left to release. The API server then deletes the object,
// unless another finalizer holds it.
func (p *reconcileScope[O, S, E]) removeFinalizer(ctx context.Context) error {
	if err := p.proven(ctx, true); err != nil {
		return err
	}
	if err := p.patchFinalizer(ctx, controllerutil.RemoveFinalizer); err != nil && !ObjectMissing(err) {
		return fmt.Errorf("removing the finalizer from %s %s: %w", p.kind.Name, p.key(), err)
	}
	return nil
}

// patchFinalizer writes the changed finalizers with an optimistic lock on the resourceVersion that this reconcile decided on. It
// sends no other field, because this process may know an older version of the spec.
func (p *reconcileScope[O, S, E]) patchFinalizer(ctx context.Context, change func(client.Object, string) bool) error {
	next := p.copy()
	change(next, Finalizer)
	p.memory.own = 0 // until the response: the outcome of a failed write is unknown
	if err := p.client.Patch(ctx, next, client.MergeFromWithOptions(p.object, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	var err error
	p.memory.own, err = revision(next)
	return err
}
