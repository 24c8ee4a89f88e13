package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/states"
)

// ChildrenFailed is the reason of the Warning that shows why children could not be repaired or applied.
const ChildrenFailed = "ChildrenFailed"

// tend repairs what was lost and, unless an action has just changed the world, applies what is desired. What fails is tried
// again with back-off and shown; it holds back no lifecycle and hides nothing from the status.
func (p *onePass[O, V, E]) tend(ctx context.Context, view V, acted bool) {
	if p.now.Before(p.memory.children.notBefore) {
		p.wake.at(p.memory.children.notBefore, p.now)
		return
	}
	write := p.writer()
	err := p.repair(ctx, view, write)
	if err == nil && p.kind.Apply != nil && !acted {
		if err = guarded(ctx, "applying", func() error { return p.kind.Apply(ctx, p.object, view, write) }); err != nil {
			err = fmt.Errorf("applying children: %w", err)
		}
	}
	if write.writes > 0 {
		p.wake.in(p.scaled(time.Second))
	}
	p.tended(ctx, err)
}

func (p *onePass[O, V, E]) repair(ctx context.Context, view V, write Writer) error {
	if p.kind.Repair == nil {
		return nil
	}
	if err := guarded(ctx, "repairing", func() error { return p.kind.Repair(ctx, p.object, view, write) }); err != nil {
		return fmt.Errorf("repairing children: %w", err)
	}
	return nil
}

// tended remembers how it went. A cache that is behind and a write that somebody else was faster with are no failures.
func (p *onePass[O, V, E]) tended(ctx context.Context, err error) {
	t := &p.memory.children
	switch {
	case err == nil:
		t.over()
	case errors.Is(err, ErrBehind):
		p.wake.in(barrierPause)
	case apierrors.IsConflict(err):
		p.wake.in(barrierPatience)
	default:
		t.failures++
		t.last = err.Error()
		pause := p.scaled(states.Backoff{}.After(t.failures))
		t.notBefore = p.now.Add(pause)
		p.wake.in(pause)
		p.metrics.failed(p.kind.Name, "", "")
		log.FromContext(ctx).Info("children cannot be brought about and will be tried again", "failures", t.failures,
			"after", pause.String(), "error", err.Error())
	}
}

// untended is the warning that shows the trouble with children, if there is one.
func (p *onePass[O, V, E]) untended(own []metav1.Condition) []metav1.Condition {
	if p.memory.children.last == "" {
		return own
	}
	return append(slices.Clip(own), metav1.Condition{
		Type: Warning, Status: metav1.ConditionTrue, Reason: ChildrenFailed, Message: p.memory.children.last,
	})
}
