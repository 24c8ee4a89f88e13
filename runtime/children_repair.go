package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/states"
)

// Reasons that concern the children of an object.
const (
	// ChildrenFailed is the reason of Ready, and of a Warning, while children could not be repaired or applied.
	ChildrenFailed = "ChildrenFailed"
	// ChildrenPending is the reason of Ready until this process has applied the children of the generation. An object that is Ready
	// for its generation stays Ready.
	ChildrenPending = "ChildrenPending"
)

// reconcileChildren repairs lost children and applies the desired ones, unless an action has just executed an effect. A failure
// is shown and retried with back-off. It delays no lifecycle and does not replace the rest of the status.
func (p *reconcileScope[O, S, E]) reconcileChildren(ctx context.Context, snapshot S, acted bool) {
	write := p.writer()
	if p.repair(ctx, snapshot, write) && !acted {
		p.apply(ctx, snapshot, write)
	}
	if write.writes > 0 {
		p.requeue.after(p.scaled(time.Second))
	}
}

// repairBefore repairs children before the transitions of this reconcile are written. Children are written only while the
// persisted state is proven current, which it may not be after the write; and a rejected write must not prevent the repair. The
// first entries of an object are written before its first repair, unless that write fails.
func (p *reconcileScope[O, S, E]) repairBefore(ctx context.Context, step *pass.Step[O, S, E]) {
	for i := range step.Moved {
		if step.Moved[i].Move.From == "" && p.memory.refusal == nil {
			return
		}
	}
	p.repair(ctx, step.Snapshot, p.writer())
}

// applyBefore applies the children of a generation before the status to be written would show the object as ready: a lifecycle that never
// waits comes to rest before they were applied. Lost children are repaired first, as always.
func (p *reconcileScope[O, S, E]) applyBefore(ctx context.Context, next O, snapshot S) {
	if !p.repaired || p.applied() {
		return
	}
	if worst, _, _ := judge(p.lifecycleStates(next), p.now); worst == nil {
		p.apply(ctx, snapshot, p.writer())
	}
}

// apply applies the desired children.
func (p *reconcileScope[O, S, E]) apply(ctx context.Context, snapshot S, write Writer) {
	if p.kind.Apply == nil || p.in.Deleting {
		return
	}
	if done, _ := p.attempt(ctx, &p.memory.applying, "applying", func(ctx context.Context) error { return p.kind.Apply(ctx, p.object, snapshot, write) }); done {
		p.memory.applied = p.in.Generation
	}
}

// repair restores lost children, as far as the snapshot shows, and reports whether Apply may follow: they are restored, or nothing else depends
// on those that this attempt could not restore. It continues while the object is being deleted, unless the garbage collector deletes the
// children first.
func (p *reconcileScope[O, S, E]) repair(ctx context.Context, snapshot S, write Writer) (applies bool) {
	if p.kind.Repair == nil || isForeground(p.object) {
		p.repaired = true
		return true
	}
	var apart bool
	p.repaired, apart = p.attempt(ctx, &p.memory.repairing, "repairing", func(ctx context.Context) error { return p.kind.Repair(ctx, p.object, snapshot, write) })
	return p.repaired || apart
}

// childrenPause is the minimum time between two attempts of a step on the children that fails. After a failure apart, which has kept nothing
// else from being done, it is states.DefaultPoll.
const childrenPause = 30 * time.Second

// attempt runs one step on the children, unless it has just failed. It reports whether it succeeded, and whether nothing else depends on what
// failed in this attempt. A stale cache and a conflict cause a requeue and do not count as failures; ErrWait is shown and causes no back-off.
// A single failure that may be over at the next attempt is retried and not shown. A reconcile that the back-off does not cause attempts the
// step as well, after childrenPause: a child that is wanted now does not wait for one that fails for long. A corrected spec does not even wait
// for that.
func (p *reconcileScope[O, S, E]) attempt(ctx context.Context, of **trouble, doing string, do func(context.Context) error) (done, apart bool) {
	if t := *of; t != nil && t.generation != p.in.Generation {
		t.failures, t.notBefore = 0, time.Time{}
	}
	if t := *of; t != nil && p.now.Before(t.notBefore) {
		p.requeue.at(t.notBefore, p.now)
		return false, false
	}
	err := p.limited(ctx, doing, do)
	apart = errors.As(err, new(apartError))
	switch {
	case err == nil:
		*of = nil
		return true, false
	case errors.Is(err, ErrStale):
		p.requeue.after(freshnessRequeue)
		return false, false
	case apierrors.IsConflict(err):
		p.requeue.after(freshnessTimeout)
		return false, false
	case errors.Is(err, ErrWait):
		*of = &trouble{last: fmt.Errorf("%s children: %w", doing, err)}
		p.requeue.after(p.scaled(states.DefaultPoll))
	default:
		t := ensured(of)
		t.generation = p.in.Generation
		t.failures++
		failure := fmt.Errorf("%s children: %w", doing, err)
		if t.failures > 1 || !transient(err) {
			t.last = failure
		}
		pause, least := p.scaled(states.Backoff{}.After(t.failures)), childrenPause
		if apart {
			least = states.DefaultPoll
		}
		t.notBefore = p.clock.Now().Add(min(pause, p.scaled(least))) // the attempt may have taken long
		p.requeue.after(pause)
		p.metrics.failed(p.kind.Name, "", "")
		log.FromContext(ctx).Info("children could not be written; will retry", "failures", t.failures,
			"after", pause.String(), "error", failure.Error())
	}
	return false, apart
}

// applied reports whether the children of the generation were applied in this process, and nothing has failed since.
func (p *reconcileScope[O, S, E]) applied() bool {
	m := p.memory
	return m.repairing == nil && m.applying == nil && (p.kind.Apply == nil || m.applied == p.in.Generation)
}

// childrenConditions puts what the children do to Ready before the kind's own conditions, whose cause it often is: children that failed
// are not as the spec declares them. A failure is a Warning as well, which stays while a lifecycle is under way.
func (p *reconcileScope[O, S, E]) childrenConditions(own []metav1.Condition) []metav1.Condition {
	var troubles []string
	for _, t := range [...]*trouble{p.memory.repairing, p.memory.applying} {
		if t != nil && t.last != nil {
			troubles = append(troubles, t.last.Error())
		}
	}
	ready := metav1.Condition{Type: Ready, Status: metav1.ConditionFalse, Reason: ChildrenFailed, Message: strings.Join(troubles, "; ")}
	switch {
	case len(troubles) > 0:
		warning := metav1.Condition{Type: Warning, Status: metav1.ConditionTrue, Reason: ChildrenFailed, Message: ready.Message}
		return slices.Concat([]metav1.Condition{ready}, own, []metav1.Condition{warning})
	case p.applied(), p.in.Deleting, p.isReady():
		return own
	}
	ready.Reason, ready.Message = ChildrenPending, "not everything that the spec declares was written yet"
	return slices.Concat([]metav1.Condition{ready}, own)
}

// isReady reports whether the stored status shows the object as ready for its generation.
func (p *reconcileScope[O, S, E]) isReady() bool {
	return p.in.Status.ObservedGeneration == p.in.Generation && meta.IsStatusConditionTrue(p.in.Status.Conditions, Ready)
}
