package runtime

import (
	"time"

	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/states"
)

// wake collects requeue delays and keeps the shortest.
type wake struct {
	soonest time.Duration
	set     bool
}

func (w *wake) in(d time.Duration) {
	d = max(d, time.Millisecond) // zero would mean no requeue
	if !w.set || d < w.soonest {
		w.soonest, w.set = d, true
	}
}

func (w *wake) at(t, now time.Time) { w.in(t.Sub(now)) }

// next returns the delay of the requeue. Every state has one, so that none depends on a watch event alone.
func (p *onePass[O, V, E]) next(step *pass.Step[V, E]) time.Duration {
	p.wake.in(p.scaled(p.kind.Resync))
	for i := range step.Standings {
		s := &step.Standings[i]
		if s.Entry == nil {
			p.wake.in(p.scaled(states.DefaultPoll))
			continue
		}
		switch {
		case s.State.Poll > 0 && s.State.Kind != states.Rest:
			p.wake.in(p.scaled(s.State.Poll))
		case !s.State.Resting(), s.Decision.Err != nil:
			p.wake.in(p.scaled(states.DefaultPoll))
		}
		if d := s.Entry.Deadline; d != nil && d.After(p.now) {
			p.wake.at(d.Time, p.now)
		}
		if t := p.memory.lifecycles[s.Name]; t != nil && t.notBefore.After(p.now) {
			p.wake.at(t.notBefore, p.now)
		}
	}
	return p.wake.soonest
}
