package explore

import (
	"slices"
	"time"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// former is an operator that does not lead any more and has not noticed: it still runs, on a cache and a memory of its own.
type former struct {
	seen   shelf
	memory *lifecycle.Memory
	// passes that it may take yet, and until when it may.
	passes uint8
	until  time.Time
}

const (
	// lastPasses are how many passes a former leader takes at most.
	lastPasses = 2
	// notices is when it ends by itself at the latest: the lease's renew deadline.
	notices = 10 * time.Second
)

// overlap lets another operator begin to lead while this one still runs. The one before ends at any time, takes a pass on what its
// own cache shows, or sees what is stored.
func (w *worker[O, V, E]) overlap(out []step, s *state) []step {
	if s.former == nil {
		if s.memory == nil {
			return out
		}
		next := s.clone()
		next.former = &former{seen: s.seen, memory: s.memory, passes: lastPasses, until: s.now.Add(notices)}
		next.term++
		next.seen, next.memory, next.woken, next.timer = s.live, nil, true, time.Time{}
		return append(out, step{name: "another operator leads, and the one before still runs", fault: Overlaps, after: next})
	}
	ended := s.clone()
	ended.former = nil
	out = append(out, step{name: "the former leader ends", after: ended})
	if !slices.Equal(s.former.seen, s.live) {
		next := s.clone()
		f := *s.former
		f.seen, next.former = s.live, &f
		out = append(out, step{name: "the former leader's cache catches up", after: next})
	}
	return append(out, w.formerPass(s))
}

// formerPass is a pass of the former leader. What it writes the new one sees later, as it sees what anybody writes.
func (w *worker[O, V, E]) formerPass(s *state) step {
	next := s.clone()
	next.seen = s.former.seen
	_, _ = w.reconcile(next, s.former.memory, s.term-1, calls{refuses: s.refusal()}) // when it would look again does not matter: it may at any time
	next.seen = s.seen
	f := *s.former
	f.passes--
	f.memory = w.reconciler.Remember()
	next.former = &f
	if f.passes == 0 {
		next.former = nil
	}
	return step{name: "the former leader takes a pass", also: Overlaps, passes: 1, after: next, passed: w.passed}
}

// passes lets time go by.
func (s *state) passes(until time.Time) {
	s.now = until
	if s.former != nil && !until.Before(s.former.until) {
		s.former = nil
	}
}

// counted is what a step counts as.
func (s *step) counted() []Fault {
	if s.also != "" {
		return []Fault{s.also}
	}
	return []Fault{s.fault}
}
