package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/transitions"
)

// act runs the actions of the states in which the object's lifecycles are, in order. acted says that the world was changed,
// turned that an edge was committed instead, because a permission was withdrawn.
func (p *onePass[O, V, E]) act(ctx context.Context, step *pass.Step[V, E]) (acted, turned bool, err error) {
	for i := range step.Standings {
		s := &step.Standings[i]
		action, wanted := pass.Wants(p.in, s)
		if !wanted || p.backingOff(s.Name) {
			continue
		}
		if err := p.proven(ctx); err != nil {
			return acted, false, err
		}
		acting, view, err := pass.Act(p.in, s)
		if err != nil {
			p.failed(ctx, s, err)
			continue
		}
		if acting.Err != nil {
			log.FromContext(ctx).Error(acting.Err, "a machine is defective; its action does not run", "lifecycle", s.Name)
			p.metrics.defect(p.kind.Name)
			continue
		}
		if acting.Turned != nil {
			again, err := p.commit(ctx, view, []pass.Moved{*acting.Turned})
			p.wake.in(again)
			return acted, true, err
		}
		if len(acting.Blocked) > 0 {
			p.memory.trouble(s.Name).last = blockedText(acting.Blocked)
			continue
		}
		did, err := p.perform(ctx, s, acting, view)
		acted = acted || did
		if err != nil {
			return acted, false, err
		}
		if did {
			p.wake.in(action.LookAgain)
		}
	}
	return acted, false, nil
}

func blockedText(blocked []transitions.Blocker) string {
	text := ""
	for i, b := range blocked {
		if i > 0 {
			text += "; "
		}
		text += b.Guard + ": " + b.Saw
	}
	return text
}

// perform carries out what one action wants. An effect that must wait, or that the slot does not let through, ends the
// action for this pass; a failure backs the lifecycle off.
func (p *onePass[O, V, E]) perform(ctx context.Context, s *pass.Standing[E], acting pass.Acting[E], view V) (did bool, err error) {
	t := p.memory.trouble(s.Name)
	for _, effect := range acting.Effects {
		if granted, why := p.granted(effect, view); !granted {
			t.last = "another disruption is under way; " + why
			return did, nil
		}
		err := p.kind.Perform(ctx, Task[O, V, E]{Object: p.object, View: view, Effect: effect, Ticket: acting.Ticket, Write: p.writer()})
		switch {
		case err == nil:
			did = true
		case errors.Is(err, ErrBehind):
			return did, err
		case errors.Is(err, ErrWait):
			t.last = err.Error()
			return did, nil
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
			// Somebody else was faster; the next pass sees what there is now.
			p.wake.in(barrierPause)
			return did, nil
		default:
			p.failed(ctx, s, fmt.Errorf("action %s: %w", acting.Action.Name, err))
			return did, nil
		}
	}
	t.failures, t.last, t.notBefore = 0, "", time.Time{}
	return did, nil
}

// granted asks the slot for an effect that takes something away.
func (p *onePass[O, V, E]) granted(effect E, view V) (bool, string) {
	if p.kind.Disrupts == nil {
		return true, ""
	}
	target, disrupts := p.kind.Disrupts(effect)
	if !disrupts {
		return true, ""
	}
	var live Disturbance
	if p.kind.Disturbed != nil {
		live = p.kind.Disturbed(p.object, view)
	}
	return p.memory.slot.grant(target, live, p.now)
}

// failed backs the lifecycle off; the object's other lifecycles go on.
func (p *onePass[O, V, E]) failed(ctx context.Context, s *pass.Standing[E], err error) {
	t := p.memory.trouble(s.Name)
	t.failures++
	t.last = err.Error()
	pause := s.State.Backoff.After(t.failures)
	t.notBefore = p.now.Add(pause)
	p.metrics.failed(p.kind.Name, s.Name, s.State.Name)
	log.FromContext(ctx).Info("an action failed and will be tried again", "lifecycle", s.Name, "state", s.State.Name,
		"failures", t.failures, "after", pause.String(), "error", err.Error())
}

func (p *onePass[O, V, E]) backingOff(lifecycle string) bool {
	t := p.memory.lifecycles[lifecycle]
	return t != nil && p.now.Before(t.notBefore)
}

// slowed holds back the transitions of an attempt that moves without making progress.
func (p *onePass[O, V, E]) slowed(lifecycle string) bool {
	entry := pass.Entry(p.in.Status, lifecycle)
	if entry == nil {
		return false
	}
	for _, lc := range p.in.Lifecycles {
		if lc.Name() != lifecycle || entry.Edges <= lc.MaxEdges() {
			continue
		}
		state, _ := lc.State(entry.State)
		free := entry.EnteredAt.Add(state.Backoff.After(int(entry.Edges - lc.MaxEdges())))
		if p.now.Before(free) {
			p.wake.at(free, p.now)
			return true
		}
	}
	return false
}
