package runtime

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
)

// preconditionFailure is a transition to commit because the precondition of an action answered no, with the snapshot that was
// evaluated.
type preconditionFailure[S any] struct {
	pass.Moved
	snapshot S
}

// act runs the actions of the states in which the object's lifecycles are, in order of declaration. acted reports that at least
// one effect was executed. If the precondition of an action answers no, act returns the resulting transition and runs no
// further action. A failure of one lifecycle does not stop the actions of the others. A returned error concerns the object as a
// whole.
func (p *reconcileScope[O, S, E]) act(ctx context.Context, step *pass.Step[O, S, E]) (acted bool, back *preconditionFailure[S], err error) {
	for i := range step.Results {
		s := &step.Results[i]
		action, wanted := pass.Wants(p.in, s)
		if !wanted || p.backingOff(s.Name) {
			continue
		}
		if action.Live && pass.Idle(s) {
			p.memory.trouble(s.Name).over()
			continue
		}
		if err := p.proven(ctx, action.Live); err != nil {
			return acted, nil, err
		}
		round := p.disruptionLocks.round(p.disruptionLockOwner())
		acting, snapshot, err := pass.Act(p.in, step, s)
		switch {
		case errors.Is(err, ErrStale):
			p.requeue.after(freshnessRequeue)
			continue
		case err != nil:
			p.failed(ctx, s, err)
			continue
		case acting.FailedPrecondition != nil:
			return acted, &preconditionFailure[S]{Moved: *acting.FailedPrecondition, snapshot: snapshot}, nil
		}
		if len(acting.Effects) > 0 && p.lacksFinalizer(action) {
			if err := p.addFinalizer(ctx, s); err != nil {
				return acted, nil, err
			}
			continue
		}
		if p.carryOut(ctx, s, acting, snapshot, round) {
			acted = true
			p.requeue.after(p.scaled(action.RequeueAfter))
		}
	}
	return acted, nil, nil
}

// carryOut executes the effects of an action, unless the machine is defective or the action's precondition is unknown.
func (p *reconcileScope[O, S, E]) carryOut(ctx context.Context, s *pass.LifecycleResult[E], acting pass.ActionResult[E], snapshot S, round uint64) (did bool) {
	t := p.memory.trouble(s.Name)
	t.acting = nil
	switch {
	case acting.Err != nil:
		t.acting = acting.Err
		p.defective(ctx, s.Name, acting.Err)
		return false
	case len(acting.Blocked) > 0:
		p.blocked(s, acting.Blocked)
		return false
	}
	return p.execute(ctx, s, acting, snapshot, round)
}

// defective logs and counts a machine that panicked or that read a fact without declaring its need.
func (p *reconcileScope[O, S, E]) defective(ctx context.Context, lifecycle string, err error) {
	log.FromContext(ctx).Error(err, "a machine is defective; its lifecycle takes no transition", "lifecycle", lifecycle)
	p.metrics.defect(p.kind.Name)
}

// execute executes the effects of one action in order. An effect that returns ErrWait, or for which the disruption lock is not
// granted, ends the action for this reconcile without back-off. Any other failure backs off the lifecycle.
func (p *reconcileScope[O, S, E]) execute(ctx context.Context, s *pass.LifecycleResult[E], acting pass.ActionResult[E], snapshot S, round uint64) (did bool) {
	t := p.memory.trouble(s.Name)
	if !p.recorded(ctx, s, acting) {
		return false
	}
	for _, effect := range acting.Effects {
		give, err := p.granted(ctx, effect, acting.Action.Live, snapshot, round)
		if refusal := (*lockRefusal)(nil); errors.As(err, &refusal) {
			t.last = refusal
			return did
		}
		if err != nil {
			t.acting = err
			p.defective(ctx, s.Name, err)
			return did
		}
		request := EffectRequest[O, S, E]{Object: p.object, Snapshot: snapshot, Effect: effect, RequestID: acting.RequestID, Write: p.writer()}
		_, request.Instance = machines.SplitEntryName(s.Name)
		err = p.limited(ctx, "executing the effect", func(ctx context.Context) error { return p.kind.Execute(ctx, request) })
		give(err)
		switch {
		case err == nil:
			did = true
		case errors.Is(err, ErrStale):
			p.requeue.after(freshnessRequeue)
			return did
		case errors.Is(err, ErrWait):
			t.last = err
			return did
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
			p.outrun(s, err)
			return did
		default:
			p.failed(ctx, s, fmt.Errorf("action %s: %w", acting.Action.Name, err))
			return did
		}
	}
	t.over()
	return did
}

// granted acquires the disruption lock for an effect that disrupts a member. It returns a lockRefusal if the lock is not
// granted. Any other error means that the kind is defective. The caller must call give with the outcome of the effect.
func (p *reconcileScope[O, S, E]) granted(ctx context.Context, effect E, live bool, snapshot S, round uint64) (give func(error), err error) {
	give = func(error) {}
	if p.kind.Disrupts == nil {
		return give, nil
	}
	target, disrupts := p.kind.Disrupts(effect)
	switch {
	case !disrupts:
		return give, nil
	case !live:
		return give, fmt.Errorf("the effect disrupts %s, but its action has no Precondition and so no live observation precedes it: declare Precondition", target)
	case p.kind.Availability == nil:
		return give, fmt.Errorf("the effect disrupts %s, but kind %s has no Availability: declare it", target, p.kind.Name)
	}
	var now Availability
	if err := guarded(ctx, "evaluating the availability", func() error { now = p.kind.Availability(p.object, snapshot); return nil }); err != nil {
		return give, err
	}
	owner := p.disruptionLockOwner()
	if refusal := p.disruptionLocks.take(owner, target, now, round, p.now); refusal != nil {
		return give, refusal
	}
	return func(outcome error) { p.disruptionLocks.give(owner, outcome, p.clock.Now()) }, nil
}

// disruptionLockOwner returns the UID of the object whose disruption lock this object's disruptions need.
func (p *reconcileScope[O, S, E]) disruptionLockOwner() types.UID {
	if p.kind.DisruptionLockOf != nil {
		return p.kind.DisruptionLockOf(p.object)
	}
	return p.object.GetUID()
}
