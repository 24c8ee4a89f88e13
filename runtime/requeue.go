package runtime

import (
	"time"

	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/states"
)

// requeue collects requeue delays and keeps the shortest.
type requeue struct {
	soonest time.Duration
	set     bool
}

func (w *requeue) after(d time.Duration) {
	d = max(d, time.Millisecond) // zero would mean no requeue
	if !w.set || d < w.soonest {
		w.soonest, w.set = d, true
	}
}

func (w *requeue) at(t, now time.Time) { w.after(t.Sub(now)) }

// next returns the delay of the requeue. Every state has one, so that none depends on a watch event alone.
func (p *reconcileScope[O, S, E]) next(step *pass.Step[O, S, E]) time.Duration {
	p.requeue.after(p.scaled(p.kind.Resync))
	for i := range step.Results {
		s := &step.Results[i]
		if s.Entry == nil {
			p.requeue.after(p.scaled(states.DefaultPoll))
			continue
		}
		switch {
		case s.State.Poll > 0 && s.State.Kind != states.Rest:
			p.requeue.after(p.scaled(s.State.Poll))
		case !s.State.Resting(), !s.Decision.Decided:
			// At rest a guard or the target is not known. The answer requeues the object, but that can be lost.
			p.requeue.after(p.scaled(states.DefaultPoll))
		}
		if d := s.Entry.Deadline; d != nil && d.After(p.now) {
			p.requeue.at(d.Time, p.now)
		}
		if t := p.memory.lifecycles[s.Name]; t != nil && t.notBefore.After(p.now) {
			p.requeue.at(t.notBefore, p.now)
		}
	}
	return p.requeue.soonest
}
