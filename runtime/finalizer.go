package runtime

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
)

// Finalizer is on an object while a lifecycle has something to release before the object is deleted (machines.Deletion). Only
// the runtime adds and removes it.
const Finalizer = "detent.dev/lifecycle"

// FinalizerFailed is the reason of Stalled and Ready while nothing is left to release and the finalizer cannot be removed, so that the
// object stays.
const FinalizerFailed = "FinalizerFailed"

// lacksFinalizer reports whether the finalizer must be added before the effects of the action.
func (p *reconcileScope[O, S, E]) lacksFinalizer(action machines.ActionInfo) bool {
	return action.NeedsFinalizer && !p.in.Deleting && !controllerutil.ContainsFinalizer(p.object, Finalizer)
}

// addFinalizer adds the finalizer before an effect that needs it. It returns ErrStale after the write: the effect is executed
// once the cache shows the finalizer. A refusal backs off the lifecycle like a failed effect and is no error, so that it is shown and
// the other lifecycles continue.
func (p *reconcileScope[O, S, E]) addFinalizer(ctx context.Context, s *pass.LifecycleResult[E]) error {
	err := p.patchFinalizer(ctx, controllerutil.AddFinalizer)
	if err == nil {
		return ErrStale
	}
	err = fmt.Errorf("adding the finalizer to %s %s: %w", p.kind.Name, p.key(), err)
	if apierrors.IsConflict(err) || ObjectMissing(err) || ctx.Err() != nil {
		return err
	}
	p.failed(ctx, s, err)
	return nil
}

// removeFinalizer removes the finalizer of an object that has nothing left to release. The API server then deletes the object,
// unless another finalizer holds it. A refusal is shown and retried with back-off: nothing but the finalizer keeps the object.
func (p *reconcileScope[O, S, E]) removeFinalizer(ctx context.Context) error {
	if t := p.memory.releasing; t != nil && p.now.Before(t.notBefore) {
		p.requeue.at(t.notBefore, p.now)
		return nil
	}
	if err := p.proven(ctx, true); err != nil {
		return err
	}
	err := p.patchFinalizer(ctx, controllerutil.RemoveFinalizer)
	switch {
	case err == nil, ObjectMissing(err):
		p.memory.releasing = nil
		return nil
	case apierrors.IsConflict(err), ctx.Err() != nil:
		return fmt.Errorf("removing the finalizer from %s %s: %w", p.kind.Name, p.key(), err)
	}
	p.finalizerKept(ctx, err)
	return nil
}

// finalizerKept backs off and shows that the finalizer could not be removed. A single failure that may be over at the next attempt is
// not shown.
func (p *reconcileScope[O, S, E]) finalizerKept(ctx context.Context, failure error) {
	t := ensured(&p.memory.releasing)
	t.failures++
	pause := p.scaled(states.Backoff{}.After(t.failures))
	t.notBefore = p.now.Add(pause)
	p.requeue.after(pause)
	p.metrics.failed(p.kind.Name, "", "")
	log.FromContext(ctx).Info("the finalizer could not be removed; will retry", "failures", t.failures, "after", pause.String(), "error", failure.Error())
	if t.failures == 1 && transient(failure) {
		return
	}
	before := t.last
	t.last = fmt.Errorf("nothing is left to release, and the finalizer %s cannot be removed; permit the operator to patch the object: %w", Finalizer, failure)
	if p.events != nil && (before == nil || before.Error() != t.last.Error()) {
		p.events.Eventf(p.object, nil, corev1.EventTypeWarning, FinalizerFailed, "remove-finalizer", "%s", machines.Cut(t.last.Error(), maxNote))
	}
	if err := p.showUndecided(ctx, FinalizerFailed, machines.Cut(t.last.Error(), maxMessage)); err != nil && !apierrors.IsConflict(err) {
		log.FromContext(ctx).Error(err, "cannot show in the status that the finalizer cannot be removed")
	}
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
