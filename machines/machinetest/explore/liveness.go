package explore

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// rests says whether nothing more is to come: every lifecycle is at rest or holds for a person, the generation was decided
// upon, and nothing waits to be seen. A paused object rests as well.
func (w *worker[O, V, E]) rests(s *state) bool {
	if !s.current() || s.woken || s.flaps > 0 || s.former != nil || !s.timer.IsZero() && soon(s.timer.Sub(s.now)) == 0 {
		return false // what is looked at again in a moment has not been decided
	}
	if s.world != nil {
		for _, h := range s.world.Next(w.site.at(s)) {
			if h.Fault == "" {
				return false
			}
		}
	}
	r := w.main(s.live)
	if r == nil || w.paused(s) {
		return true
	}
	from, ok := r.object.(lifecycled)
	if !ok {
		return true
	}
	status, holds := from.LifecycleStatus(), false
	for _, lc := range w.lifecycles {
		st, known := w.stands(r.object, lc.Name())
		if !known || !atRest(st) && !atHold(st) {
			return false
		}
		holds = holds || atHold(st)
	}
	return holds || status.ObservedGeneration == r.object.GetGeneration()
}

// settled says whether every lifecycle is at rest, held by nothing, and the object shows as ready.
func (w *worker[O, V, E]) settled(s *state) bool {
	r := w.main(s.live)
	if r == nil || w.paused(s) {
		return false
	}
	for _, lc := range w.lifecycles {
		if st, known := w.stands(r.object, lc.Name()); !known || !atRest(st) {
			return false
		}
	}
	from, ok := r.object.(lifecycled)
	return ok && meta.IsStatusConditionTrue(from.LifecycleStatus().Conditions, lifecycle.Ready)
}

// leave settles states that are not searched any further: of these, some are followed while nothing goes wrong, for a tenth of
// the time at most.
func (s *search[O, V, E]) leave(states []found) {
	const most, part = 100, 10
	every, until := 1+len(states)/most, time.Now().Add(s.options.Time/part)
	for i, f := range states {
		s.report.Left++
		s.nodes[f.number].calm = resting // as far as is known
		if i%every == 0 && len(s.report.Violations) < mostViolations && time.Now().Before(until) {
			s.report.Followed++
			s.follow(f)
		}
	}
}

// follow takes calm steps from a state until it rests or meets one that was searched.
func (s *search[O, V, E]) follow(f found) {
	w := s.workers[0]
	at, passes, steps, begun := f.state, 0, 0, f.state.now
	for {
		if w.rests(at) {
			s.ended(found{f.number, at}, steps)
			return
		}
		if passes > s.subject.Passes || at.now.Sub(begun) > s.subject.Within {
			s.violated(fmt.Sprintf("once nothing goes wrong any more it does not come to rest within %d passes and %s", s.subject.Passes, s.subject.Within), f.number, -1, steps)
			return
		}
		one, ok := w.calmly(at)
		if !ok {
			s.violated("it neither rests nor holds, and nobody wakes it", f.number, -1, steps)
			return
		}
		for _, v := range one.violations() {
			s.violated(v, f.number, -1, steps+1)
		}
		if wrong := s.invariant(one.after); wrong != "" {
			s.violated(wrong, f.number, -1, steps+1)
		}
		at, passes, steps = one.after, passes+one.passes, steps+1
	}
}

func (s step) violations() []string {
	if s.passed == nil {
		return nil
	}
	return s.passed.violations
}

// calmly is the step that follows when nothing goes wrong.
func (w *worker[O, V, E]) calmly(s *state) (step, bool) {
	if s.former != nil {
		return w.overlap(nil, s)[0], true
	}
	if out := w.catchUp(nil, s); len(out) > 0 {
		return out[0], true
	}
	if s.due() {
		return w.took(s, "", "", 0, false), true
	}
	for _, one := range w.happen(nil, s) {
		if one.fault == "" {
			return one, true
		}
	}
	for _, one := range w.wait(nil, s) {
		if one.fault == "" {
			return one, true
		}
	}
	return step{}, false
}

// fate is how far a state is from rest.
type fate struct {
	passes int
	spent  time.Duration
	known  bool
	// bad says that it is not reached in time.
	bad bool
}

// settle asks of every state that was searched how it ends when nothing goes wrong any more.
func (s *search[O, V, E]) settle() {
	fates := make([]fate, len(s.nodes))
	var path []int32
	met := make([]int32, len(s.nodes)) // in which walk, counted from 1
	for i := range s.nodes {
		path = path[:0]
		at, walk := int32(i), int32(i)+1 //nolint:gosec // as many as there are nodes
		for !fates[at].known && s.nodes[at].calm >= 0 && met[at] != walk {
			met[at] = walk
			path = append(path, at)
			at = s.nodes[at].calm
		}
		end := fates[at]
		if !end.known {
			end = fate{known: true, bad: s.nodes[at].calm >= 0 || s.nodes[at].calm == stuck}
			fates[at] = end
		}
		for _, number := range slices.Backward(path) {
			n := &s.nodes[number]
			end = fate{passes: end.passes + int(n.passes), spent: end.spent + n.spent, known: true, bad: end.bad}
			fates[number] = end
		}
	}
	s.judge(fates)
}

// judge reports the first states that do not come to rest in time. What goes round among states that pass for one may come to
// rest all the same, so that each is followed itself.
func (s *search[O, V, E]) judge(fates []fate) {
	const most = 20
	tried := 0
	for i := range fates {
		f := &fates[i]
		s.report.Longest = max(s.report.Longest, f.passes)
		if !f.bad && f.passes <= s.subject.Passes && f.spent <= s.subject.Within || tried == most || len(s.report.Violations) >= mostViolations {
			continue
		}
		tried++
		number := int32(i) //nolint:gosec // as many as there are nodes
		if at, ok := s.replay(number); ok {
			s.follow(found{number, at})
		}
	}
}

// replay comes to a state the way that it was found.
func (s *search[O, V, E]) replay(number int32) (*state, bool) {
	w := s.workers[0]
	at, err := w.begin()
	if err != nil {
		return nil, false
	}
	for _, move := range s.moves(number) {
		all := w.steps(at)
		if move >= len(all) {
			return nil, false
		}
		at = all[move].after
	}
	return at, true
}

// moves lead from the first state to that one.
func (s *search[O, V, E]) moves(number int32) []int {
	var out []int
	for n := number; s.nodes[n].parent >= 0; n = s.nodes[n].parent {
		out = append(out, int(s.nodes[n].move))
	}
	slices.Reverse(out)
	return out
}
