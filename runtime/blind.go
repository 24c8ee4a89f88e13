package runtime

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/machines"
)

// ViewFailed is the reason of Stalled and of Ready while the world cannot be looked at, so that nothing can be decided.
const ViewFailed = "ViewFailed"

// blindness is how long looks must have failed before that shows: a single one is tried again at once.
const blindness = 10 * time.Second

// blind ends a pass that could not look at the world. What was lost is repaired all the same if a look without costly facts
// succeeds, and once this has lasted a person reads why. It returns the failure, so that the object backs off.
func (p *onePass[O, V, E]) blind(ctx context.Context, failure error) error {
	switch {
	case errors.Is(failure, ErrBehind), apierrors.IsConflict(failure), ctx.Err() != nil:
		return failure
	case apierrors.IsNotFound(failure) && p.gone(ctx, p.object):
		return errGone
	}
	if p.memory.blindSince.IsZero() {
		p.memory.blindSince = p.now
	}
	if view, err := p.view(ctx, nil, false); err == nil {
		p.repair(ctx, view, p.writer())
	}
	if p.now.Sub(p.memory.blindSince) < p.scaled(blindness) {
		return failure
	}
	message := machines.Cut("nothing can be decided, since the world cannot be looked at: "+failure.Error(), maxMessage)
	if err := p.showUndecided(ctx, ViewFailed, message); err != nil && !apierrors.IsConflict(err) {
		log.FromContext(ctx).Error(err, "why nothing is decided cannot be shown")
	}
	return failure
}

// showUndecided says in the conditions why nothing is decided. The other conditions keep their last values. It writes nothing
// while Stalled shows the same already.
func (p *onePass[O, V, E]) showUndecided(ctx context.Context, reason, message string) error {
	if c := meta.FindStatusCondition(p.in.Status.Conditions, Stalled); c != nil && c.Status == metav1.ConditionTrue && c.Reason == reason && c.Message == message {
		return nil
	}
	next := p.copy()
	status := next.LifecycleStatus()
	fresh := slices.DeleteFunc(slices.Clone(status.Conditions), func(c metav1.Condition) bool {
		return c.Type == Ready || c.Type == Reconciling || c.Type == Stalled
	})
	fresh = append(fresh,
		metav1.Condition{Type: Ready, Status: metav1.ConditionFalse, Reason: reason, Message: message},
		metav1.Condition{Type: Reconciling, Status: metav1.ConditionFalse, Reason: reason},
		metav1.Condition{Type: Stalled, Status: metav1.ConditionTrue, Reason: reason, Message: message})
	status.Conditions = settle(fresh, p.in.Status.Conditions, status.ObservedGeneration, p.now)
	if p.in.Status.Equal(status) || !urgent(p.in.Status, status) && p.now.Before(p.memory.shown.Add(projectionPause)) {
		return nil
	}
	if err := p.write(ctx, next); err != nil {
		return err
	}
	p.memory.shown = p.now
	return nil
}
