package runtime

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/transitions"
)

// blocked backs off an action whose precondition is not known to hold. A precondition that only waits for its first answer
// causes no back-off.
func (p *reconcileScope[O, S, E]) blocked(s *pass.LifecycleResult[E], blocked []transitions.Blocker) {
	text, pending := "", true
	for i, b := range blocked {
		if i > 0 {
			text += "; "
		}
		text += b.Guard + ": " + b.Observed
		pending = pending && b.Pending
	}
	if pending {
		return
	}
	t := p.memory.trouble(s.Name)
	t.failures++
	t.last = errors.New(text)
	t.notBefore = p.now.Add(p.scaled(s.State.Backoff.After(t.failures)))
}

// outrun backs off an action whose write met a conflict or an object that already exists. One or two conflicts in a row are
// expected of a stale cache and are not shown. From the third on the lifecycle shows the error, because another writer probably
// overwrites the same fields.
func (p *reconcileScope[O, S, E]) outrun(s *pass.LifecycleResult[E], err error) {
	const quarrel = 3
	t := p.memory.trouble(s.Name)
	t.failures++
	t.notBefore = p.now.Add(p.scaled(s.State.Backoff.After(t.failures)))
	if t.failures >= quarrel {
		t.last = err
	}
}

// failed backs off the lifecycle. The object's other lifecycles are not affected.
func (p *reconcileScope[O, S, E]) failed(ctx context.Context, s *pass.LifecycleResult[E], err error) {
	t := p.memory.trouble(s.Name)
	t.failures++
	t.last = err
	pause := p.scaled(s.State.Backoff.After(t.failures))
	t.notBefore = p.now.Add(pause)
	p.metrics.failed(p.kind.Name, s.Name, s.State.Name)
	log.FromContext(ctx).Info("an action failed; will retry", "lifecycle", s.Name, "state", s.State.Name,
		"failures", t.failures, "after", pause.String(), "error", err.Error())
}

func (p *reconcileScope[O, S, E]) backingOff(lifecycle string) bool {
	t := p.memory.lifecycles[lifecycle]
	return t != nil && p.now.Before(t.notBefore)
}
