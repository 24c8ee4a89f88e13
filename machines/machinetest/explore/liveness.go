package explore

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// rests reports whether no further step is due: every lifecycle is at rest or in a Hold, the generation was observed, and the
// cache shows everything. A paused object rests as well.
func (w *worker[O, S, E]) rests(s *state) bool {
	if !s.current() || s.woken || s.flaps > 0 || s.staleLeader != nil || !s.timer.IsZero() && soon(s.timer.Sub(s.now)) == 0 {
		return false // a requeue within moments shows that the decision is not final
	}
	if s.world != nil {
		for _, h := range s.world.Next(w.scenario.at(s)) {
			if h.Fault == "" {
				return false
			}
		}
	}
	r := w.main(s.live)
	if r == nil || w.paused(s) {
		return true
	}
	if isDeleting(r) {
		return false
	}
	from, ok := r.Object.(lifecycled)
	if !ok {
		return true
	}
	status, holds := from.LifecycleStatus(), false
	for _, lc := range w.instances(r.Object) {
		st, known := w.graphState(r.Object, lc.Name())
		if !known || !atRest(st) && !atHold(st) {
			return false
		}
		holds = holds || atHold(st)
	}
	return holds || status.ObservedGeneration == r.Object.GetGeneration()
}

// settled reports whether every lifecycle is at rest, not in a Hold, and the object is Ready.
func (w *worker[O, S, E]) settled(s *state) bool {
	r := w.main(s.live)
	if r == nil || w.paused(s) {
		return false
	}
	for _, lc := range w.instances(r.Object) {
		if st, known := w.graphState(r.Object, lc.Name()); !known || !atRest(st) {
			return false
		}
	}
	from, ok := r.Object.(lifecycled)
	return ok && meta.IsStatusConditionTrue(from.LifecycleStatus().Conditions, lifecycle.Ready)
}

// leave handles states that are not searched any further: a sample of them is followed without faults, for at most a tenth of
// the time.
func (s *search[O, S, E]) leave(states []found) {
	const part = 10
	every, until := 1+len(states)/s.options.Follow, time.Now().Add(s.options.Time/part)
	for i, f := range states {
		s.report.Left++
		s.nodes[f.number].calm = resting // the assumption for states that are not followed
		if i%every == 0 && len(s.report.Violations) < mostViolations && time.Now().Before(until) {
			s.report.Followed++
			s.follow(f)
		}
	}
}

// follow takes steps without faults from a state until it rests or the limits are exceeded.
func (s *search[O, S, E]) follow(f found) {
	w := s.workers[0]
	at, passes, steps, begun := f.state, 0, 0, f.state.now
	for {
		if w.rests(at) {
			s.ended(found{f.number, at}, steps)
			return
		}
		if passes > s.subject.Passes || at.now.Sub(begun) > s.subject.Within {
			s.violated(fmt.Sprintf("without further faults it does not come to rest within %d reconciles and %s", s.subject.Passes, s.subject.Within), f.number, -1, steps)
			return
		}
		one, ok := w.calmly(at)
		if !ok {
			s.violated("it neither rests nor holds, and it is not requeued", f.number, -1, steps)
			return
		}
		for _, v := range one.violations() {
			s.violated(v, f.number, -1, steps+1)
		}
		if wrong := s.invariant(one.after); wrong != nil {
			s.violated(wrong.Error(), f.number, -1, steps+1)
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

// calmly returns the step that follows without a fault.
func (w *worker[O, S, E]) calmly(s *state) (step, bool) {
	if s.staleLeader != nil {
		return w.overlap(nil, s)[0], true
	}
	if out := w.catchUp(nil, s); len(out) > 0 {
		return out[0], true
	}
	if s.due() {
		return w.took(s, attempt{}), true
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
	// bad means that rest is not reached within the limits.
	bad bool
}

// settle computes for every searched state how it ends without further faults.
func (s *search[O, S, E]) settle() {
	fates := make([]fate, len(s.nodes))
	var path []int32
	met := make([]int32, len(s.nodes)) // the walk that met it, counted from 1
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

// judge reports the first states that do not come to rest within the limits. A loop among states that compare equal may still
// come to rest, so that each candidate is followed separately.
func (s *search[O, S, E]) judge(fates []fate) {
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

// replay returns a state by the path on which it was found.
func (s *search[O, S, E]) replay(number int32) (*state, bool) {
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

// moves returns the moves from the first state to that one.
func (s *search[O, S, E]) moves(number int32) []int {
	var out []int
	for n := number; s.nodes[n].parent >= 0; n = s.nodes[n].parent {
		out = append(out, int(s.nodes[n].move))
	}
	slices.Reverse(out)
	return out
}
