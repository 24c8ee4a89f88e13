package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/states"
)

// ChildrenFailed is the reason of the Warning that shows why children could not be repaired or applied.
const ChildrenFailed = "ChildrenFailed"

// reconcileChildren repairs lost children and applies the desired ones, unless an action has just executed an effect. A failure
// is shown and retried with back-off. It delays no lifecycle and does not replace the rest of the status.
func (p *reconcileScope[O, S, E]) reconcileChildren(ctx context.Context, snapshot S, acted bool) {
	write := p.writer()
	repaired := p.repair(ctx, snapshot, write)
	if repaired && p.kind.Apply != nil && !acted && !p.in.Deleting {
		p.attempt(ctx, &p.memory.applying, "applying", func() error { return p.kind.Apply(ctx, p.object, snapshot, write) })
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

// repair reports whether the lost children are restored, as far as the snapshot shows. It continues while the object is being
// deleted, unless the garbage collector deletes the children first.
func (p *reconcileScope[O, S, E]) repair(ctx context.Context, snapshot S, write Writer) bool {
	if p.kind.Repair == nil || isForeground(p.object) {
		return true
	}
	return p.attempt(ctx, &p.memory.repairing, "repairing", func() error { return p.kind.Repair(ctx, p.object, snapshot, write) })
}

// attempt runs one step on the children, unless it is backed off, and reports whether it succeeded. A stale cache and a
// conflict cause a requeue and do not count as failures; ErrWait is shown and causes no back-off.
func (p *reconcileScope[O, S, E]) attempt(ctx context.Context, of **trouble, doing string, do func() error) bool {
	if t := *of; t != nil && p.now.Before(t.notBefore) {
		p.requeue.at(t.notBefore, p.now)
		return false
	}
	err := guarded(ctx, doing, do)
	switch {
	case err == nil:
		*of = nil
		return true
	case errors.Is(err, ErrStale):
		p.requeue.after(freshnessRequeue)
	case apierrors.IsConflict(err):
		p.requeue.after(freshnessTimeout)
	case errors.Is(err, ErrWait):
		*of = &trouble{last: fmt.Errorf("%s children: %w", doing, err)}
		p.requeue.after(p.scaled(states.DefaultPoll))
	default:
		t := ensured(of)
		t.failures++
		t.last = fmt.Errorf("%s children: %w", doing, err)
		pause := p.scaled(states.Backoff{}.After(t.failures))
		t.notBefore = p.now.Add(pause)
		p.requeue.after(pause)
		p.metrics.failed(p.kind.Name, "", "")
		log.FromContext(ctx).Info("children could not be written; will retry", "failures", t.failures,
			"after", pause.String(), "error", t.last.Error())
	}
	return false
}

// childrenWarning appends the Warning about failed children, if there is any.
func (p *reconcileScope[O, S, E]) childrenWarning(own []metav1.Condition) []metav1.Condition {
	var troubles []string
	for _, t := range [...]*trouble{p.memory.repairing, p.memory.applying} {
		if t != nil && t.last != nil {
			troubles = append(troubles, t.last.Error())
		}
	}
	if len(troubles) == 0 {
		return own
	}
	return append(slices.Clip(own), metav1.Condition{
		Type: Warning, Status: metav1.ConditionTrue, Reason: ChildrenFailed, Message: strings.Join(troubles, "; "),
	})
}
