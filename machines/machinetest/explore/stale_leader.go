package explore

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/internal/access"
)

// staleLeader is a previous leader that has not noticed the loss of its lease: it still runs, with its own cache and memory.
type staleLeader struct {
	seen   objectStore
	memory access.Memory
	// passes is the number of reconciles it may still do, and until is when it ends at the latest.
	passes uint8
	until  time.Time
}

const (
	// lastPasses is the maximum number of reconciles of a previous leader.
	lastPasses = 2
	// notices is when it ends at the latest: the renew deadline of the lease.
	notices = 10 * time.Second
)

// overlap lets another operator acquire the lease while this one still runs. The previous leader may end at any time, reconcile
// on its own cache, or observe the stored objects.
func (w *worker[O, S, E]) overlap(out []step, s *state) []step {
	if s.staleLeader == nil {
		if s.memory == nil {
			return out
		}
		next := s.clone()
		next.staleLeader = &staleLeader{seen: s.seen, memory: s.memory, passes: lastPasses, until: s.now.Add(notices)}
		next.term++
		next.seen, next.memory, next.woken, next.timer = s.live, nil, true, time.Time{}
		return append(out, step{name: "another operator leads while the previous one still runs", fault: Overlaps, after: next})
	}
	ended := s.clone()
	ended.staleLeader = nil
	out = append(out, step{name: "the previous leader ends", after: ended})
	if !slices.Equal(s.staleLeader.seen, s.live) {
		next := s.clone()
		f := *s.staleLeader
		f.seen, next.staleLeader = s.live, &f
		out = append(out, step{name: "the previous leader's cache catches up", after: next})
	}
	return append(out, w.staleLeaderPass(s))
}

// staleLeaderPass is a reconcile of the previous leader. The new leader observes its writes later, like those of any other writer.
func (w *worker[O, S, E]) staleLeaderPass(s *state) step {
	next := s.clone()
	next.seen = s.staleLeader.seen
	_, _ = w.reconcile(next, s.staleLeader.memory, s.term-1, calls{refuses: s.refusal()}) // its requeue does not matter: it may reconcile at any time
	next.seen = s.seen
	f := *s.staleLeader
	f.passes--
	f.memory = w.reconciler.SaveMemory(access.Key{})
	next.staleLeader = &f
	if f.passes == 0 {
		next.staleLeader = nil
	}
	return step{name: "the previous leader reconciles", also: Overlaps, passes: 1, after: next, passed: w.passed}
}

// passes advances the clock.
func (s *state) passes(until time.Time) {
	s.now = until
	if s.staleLeader != nil && !until.Before(s.staleLeader.until) {
		s.staleLeader = nil
	}
}

// counted returns the faults that a step counts as.
func (s *step) counted() []Fault {
	if s.also != "" {
		return []Fault{s.also}
	}
	return []Fault{s.fault}
}
