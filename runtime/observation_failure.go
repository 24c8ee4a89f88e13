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

// ObservationFailed is the reason of Stalled and Ready while observations fail, so that no guard can be evaluated.
const ObservationFailed = "ObservationFailed"

// observationFailureDelay is how long observations must have failed before that is shown. A single failure is only retried.
const observationFailureDelay = 10 * time.Second

// observationFailed ends a reconcile whose observation failed. If an observation without costly facts succeeds, lost children
// are still repaired. Once the failure has lasted, the conditions show it. It returns the failure, so that the object is
// retried with back-off.
func (p *reconcileScope[O, S, E]) observationFailed(ctx context.Context, failure error) error {
	switch {
	case errors.Is(failure, ErrStale), apierrors.IsConflict(failure), ctx.Err() != nil:
		return failure
	case apierrors.IsNotFound(failure) && p.gone(ctx, p.object):
		return errGone
	}
	if p.memory.observationFailedSince.IsZero() {
		p.memory.observationFailedSince = p.now
	}
	if snapshot, err := p.observe(ctx, nil, false); err == nil {
		p.repair(ctx, snapshot, p.writer())
	}
	if p.now.Sub(p.memory.observationFailedSince) < p.scaled(observationFailureDelay) {
		return failure
	}
	since := p.memory.observationFailedSince.UTC().Format(time.RFC3339)
	message := machines.Cut("no guard can be evaluated since "+since+": the observation failed: "+failure.Error(), maxMessage)
	if err := p.showUndecided(ctx, ObservationFailed, message); err != nil && !apierrors.IsConflict(err) {
		log.FromContext(ctx).Error(err, "cannot show in the status that observations fail")
	}
	return failure
}

// showUndecided sets Ready, Reconciling and Stalled to why no decision is made, or none has an effect. The other conditions keep their values. It
// writes nothing while Stalled shows the same reason and message.
func (p *reconcileScope[O, S, E]) showUndecided(ctx context.Context, reason, message string) error {
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
