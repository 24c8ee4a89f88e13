package runtime

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
)

// Limits of the transitions of one lifecycle, across all states and attempts. Each transition and each new attempt uses one
// unit of an allowance. One unit of each is refilled per paceInterval, and each unit of progress refills transitions.
const (
	// paceInterval is the time in which one transition and one attempt are refilled. The deadline scale stretches it.
	paceInterval = time.Minute
	// burstTransitions is the number of transitions without progress before the limit applies. A machine that declares more than
	// half of it as its MaxTransitionsWithoutProgress may take twice its own number.
	burstTransitions = 128
	// burstAttempts is the number of new attempts before the limit applies. Progress does not refill them: a target that flaps
	// may make progress in each attempt.
	burstAttempts = 64
	// unitTransitions is the number of transitions that each unit of progress refills. The restart of one node takes about ten.
	unitTransitions = 32
	// calmTransitions must be refilled, with no transition due, before a lifecycle that exceeded the limit is not Stalled any
	// more.
	calmTransitions = 5
)

// TransitionsTooFrequent is the reason of Stalled while a lifecycle has used up its allowance of transitions. One transition
// per minute is then permitted.
const TransitionsTooFrequent = "TransitionsTooFrequent"

// pace is the used part of a lifecycle's allowance. It is kept in memory only: a restart of the manager resets it, which
// permits another burst and delays no lifecycle.
type pace struct {
	transitions, attempts spending
	// attempt and done identify the attempt and the progress that were last observed.
	attempt string
	done    int32
	// exceeded means that a transition was delayed and that the lifecycle has not recovered since.
	exceeded bool
}

// spending is an amount that decreases by one per interval.
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

// until returns the time at which the amount will have decreased to most.
func (s *spending) until(most float64, interval time.Duration) time.Time {
	return s.at.Add(time.Duration((s.amount-most)*float64(interval)) + time.Millisecond)
}

func (c *pace) isExceeded() bool { return c != nil && c.exceeded }

// progress refills transitions for the progress that the entry's attempt has made since the last call.
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

// paceOf returns the pace of the lifecycle, refilled up to now.
func (p *reconcileScope[O, S, E]) paceOf(lifecycle string) *pace {
	c := p.memory.paces[lifecycle]
	if c == nil {
		if p.memory.paces == nil {
			p.memory.paces = map[string]*pace{}
		}
		c = &pace{}
		p.memory.paces[lifecycle] = c
	}
	c.transitions.settle(p.now, p.scaled(paceInterval))
	c.attempts.settle(p.now, p.scaled(paceInterval))
	return c
}

func (p *reconcileScope[O, S, E]) burst(lifecycle string) float64 {
	return max(burstTransitions, 2*float64(pass.Find(p.in.Lifecycles, lifecycle).MaxTransitionsWithoutProgress()))
}

// pace ends the slow pace of lifecycles that have no transition due and whose allowance has recovered.
func (p *reconcileScope[O, S, E]) pace(step *pass.Step[O, S, E]) {
	for i := range step.Results {
		s := &step.Results[i]
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
			p.requeue.at(calm, p.now)
			continue
		}
		c.exceeded = false
	}
}

// spend counts a committed transition.
func (p *reconcileScope[O, S, E]) spend(moved *pass.Moved) {
	c := p.paceOf(moved.Lifecycle)
	c.transitions.amount++
	var before *lifecyclev1.Attempt
	if old := p.entries.Find(moved.Lifecycle); old != nil {
		before = old.Attempt
	}
	if after := moved.Entry.Attempt; after != nil && !machines.SameAttempt(before, after) {
		c.attempts.amount++
	}
}

// slowed reports whether a transition that is due must be delayed: because the lifecycle has used up its allowance, or because
// its attempt takes transitions without progress. begins means that the transition starts an attempt. Within the allowance a
// changed spec causes its transition in the reconcile that observes it.
func (p *reconcileScope[O, S, E]) slowed(lifecycle string, begins bool) bool {
	c, interval := p.paceOf(lifecycle), p.scaled(paceInterval)
	entry := p.entries.Find(lifecycle)
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
		p.requeue.at(free, p.now)
		return true
	}
	return !begins && entry != nil && p.backedOff(entry)
}

// exceed reports in an event that a lifecycle exceeded its limit. It is sent once until the lifecycle has recovered.
func (p *reconcileScope[O, S, E]) exceed(lifecycle string, c *pace) {
	if c.exceeded {
		return
	}
	c.exceeded = true
	if p.events != nil {
		p.events.Eventf(p.object, nil, corev1.EventTypeWarning, TransitionsTooFrequent, "slow-down", "%s: %s", lifecycle, tooFrequentMessage)
	}
}

// backedOff delays the transitions of an attempt that takes more than MaxTransitionsWithoutProgress of them without progress.
func (p *reconcileScope[O, S, E]) backedOff(entry *lifecyclev1.Lifecycle) bool {
	lc := pass.Find(p.in.Lifecycles, entry.Name)
	over := entry.TransitionsSinceProgress - lc.MaxTransitionsWithoutProgress()
	if over <= 0 {
		return false
	}
	if entry.EnteredAt.After(p.now) {
		return false // the clock was set back: how long ago it was is not known, and the wait would last as long as the clock was ahead
	}
	state, _ := lc.State(entry.State)
	free := entry.EnteredAt.Add(p.scaled(state.Backoff.After(int(over))))
	if !p.now.Before(free) {
		return false
	}
	p.requeue.at(free, p.now)
	return true
}
