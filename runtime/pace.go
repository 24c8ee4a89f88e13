package runtime

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
)

// Bounds of the transitions of one lifecycle, through every state and attempt. Each transition and each new attempt spends one
// from an allowance; one of each comes back per paceInterval, and every unit of progress gives back transitions.
const (
	// paceInterval is the time in which one transition and one attempt come back; the deadline scale stretches it.
	paceInterval = time.Minute
	// burstTransitions may be taken without progress, unless a machine declares more than half of it as its MaxEdges.
	burstTransitions = 128
	// burstAttempts may be begun. Progress does not give them back, since a target that flaps may make progress each time.
	burstAttempts = 64
	// unitTransitions come back with each unit of progress: restarting one node takes about ten.
	unitTransitions = 32
	// calmTransitions must have come back, with no transition due, before a lifecycle that exceeded its bound is not Stalled any more.
	calmTransitions = 5
)

// TransitionsTooFrequent is the reason of Stalled while a lifecycle has spent its allowance of transitions. It is then allowed one
// per minute.
const TransitionsTooFrequent = "TransitionsTooFrequent"

// pace is what a lifecycle has spent of its allowance. It is kept in memory only: a restart of the manager forgets it, which
// permits another burst and starves nothing.
type pace struct {
	transitions, attempts spending
	// attempt and done are the run whose progress was last seen.
	attempt string
	done    int32
	// exceeded says that a transition was held back, and that the lifecycle has not calmed down since.
	exceeded bool
}

// spending is an amount that falls by one per interval.
type spending struct {
	amount float64
	at     time.Time
}

func (s *spending) settle(now time.Time, interval time.Duration) {
	if elapsed := now.Sub(s.at); elapsed > 0 {
		s.amount = max(0, s.amount-float64(elapsed)/float64(interval))
	}
	s.at = now
}

// until is when the amount will have fallen to most.
func (s *spending) until(most float64, interval time.Duration) time.Time {
	return s.at.Add(time.Duration((s.amount-most)*float64(interval)) + time.Millisecond)
}

func (c *pace) isExceeded() bool { return c != nil && c.exceeded }

// progress gives transitions back for what the entry's attempt has done since it was last seen.
func (c *pace) progress(entry *lifecyclev1.Lifecycle) {
	attempt, done := "", int32(0)
	if a := entry.Attempt; a != nil {
		attempt = a.ID + "@" + strconv.FormatInt(a.StartedAt.Unix(), 10)
	}
	if entry.Progress != nil {
		done = entry.Progress.Done
	}
	if attempt == c.attempt && done > c.done {
		c.transitions.amount = max(0, c.transitions.amount-float64(done-c.done)*unitTransitions)
	}
	if attempt != c.attempt || done > c.done {
		c.attempt, c.done = attempt, done
	}
}

// paceOf the lifecycle, as it is now.
func (p *onePass[O, V, E]) paceOf(lifecycle string) *pace {
	c := p.memory.paces[lifecycle]
	if c == nil {
		c = &pace{}
		p.memory.paces[lifecycle] = c
	}
	c.transitions.settle(p.now, p.scaled(paceInterval))
	c.attempts.settle(p.now, p.scaled(paceInterval))
	return c
}

func (p *onePass[O, V, E]) burst(lifecycle string) float64 {
	for _, lc := range p.in.Lifecycles {
		if lc.Name() == lifecycle {
			return max(burstTransitions, 2*float64(lc.MaxEdges()))
		}
	}
	return burstTransitions
}

// pace ends the slow pace of lifecycles that want no transition any more and have been calm for a while.
func (p *onePass[O, V, E]) pace(step *pass.Step[V, E]) {
	for i := range step.Standings {
		s := &step.Standings[i]
		if !p.memory.paces[s.Name].isExceeded() || s.Decision.Move != nil {
			continue
		}
		c := p.paceOf(s.Name)
		interval := p.scaled(paceInterval)
		calm := c.transitions.until(p.burst(s.Name)-calmTransitions, interval)
		if later := c.attempts.until(burstAttempts-calmTransitions, interval); later.After(calm) {
			calm = later
		}
		if p.now.Before(calm) {
			p.wake.at(calm, p.now)
			continue
		}
		c.exceeded = false
	}
}

// spend counts a transition that was committed.
func (p *onePass[O, V, E]) spend(moved *pass.Moved) {
	c := p.paceOf(moved.Lifecycle)
	c.transitions.amount++
	var before *lifecyclev1.Attempt
	if old := pass.Entry(p.in.Status, moved.Lifecycle); old != nil {
		before = old.Attempt
	}
	if after := moved.Entry.Attempt; after != nil && !machines.SameAttempt(before, after) {
		c.attempts.amount++
	}
}

// slowed says whether a transition that is due must wait: because the lifecycle has spent its allowance, or because its attempt
// moves without making progress. begins says that the transition begins an attempt: within the allowance, a changed spec is acted
// upon in the pass that sees it.
func (p *onePass[O, V, E]) slowed(lifecycle string, begins bool) bool {
	c, interval := p.paceOf(lifecycle), p.scaled(paceInterval)
	entry := pass.Entry(p.in.Status, lifecycle)
	if entry != nil {
		c.progress(entry)
	}
	most, mostAttempts := p.burst(lifecycle)-1, float64(burstAttempts-1)
	free := c.transitions.until(most, interval)
	if begins {
		if later := c.attempts.until(mostAttempts, interval); later.After(free) {
			free = later
		}
	}
	if c.transitions.amount > most || begins && c.attempts.amount > mostAttempts {
		p.exceed(lifecycle, c)
		p.wake.at(free, p.now)
		return true
	}
	return !begins && entry != nil && p.backedOff(entry)
}

// exceed reports a lifecycle that spends its allowance, once until it has calmed down.
func (p *onePass[O, V, E]) exceed(lifecycle string, c *pace) {
	if c.exceeded {
		return
	}
	c.exceeded = true
	if p.events != nil {
		p.events.Eventf(p.object, nil, corev1.EventTypeWarning, TransitionsTooFrequent, "slow-down", "%s: %s", lifecycle, tooFrequentMessage)
	}
}

// backedOff holds back the transitions of an attempt that moves without making progress.
func (p *onePass[O, V, E]) backedOff(entry *lifecyclev1.Lifecycle) bool {
	for _, lc := range p.in.Lifecycles {
		if lc.Name() != entry.Name || entry.Edges <= lc.MaxEdges() {
			continue
		}
		state, _ := lc.State(entry.State)
		free := entry.EnteredAt.Add(p.scaled(state.Backoff.After(int(entry.Edges - lc.MaxEdges()))))
		if p.now.Before(free) {
			p.wake.at(free, p.now)
			return true
		}
	}
	return false
}
