package explore

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// step is one event, and the state that it led to.
type step struct {
	name  string
	fault Fault
	// also is counted as well, without being a fault.
	also Fault
	// calm means that this step follows when no fault occurs.
	calm   bool
	passes int
	after  *state
	passed *passed
}

// steps returns all possible next steps, in an order that depends only on the state.
func (w *worker[O, S, E]) steps(s *state) []step {
	var out []step
	out = w.overlap(out, s)
	out = w.catchUp(out, s)
	out = w.operate(out, s)
	out = w.happen(out, s)
	out = w.wait(out, s)
	out = w.people(out, s)
	for i := range out {
		if after := out[i].after; w.subject.Prompt && !after.current() {
			after.seen, after.woken = after.live, true
		}
	}
	if i := slices.IndexFunc(out, func(one step) bool { return one.fault == "" }); i >= 0 {
		out[i].calm = true
	}
	return slices.DeleteFunc(out, func(one step) bool { return slices.Contains(w.subject.Without, one.fault) })
}

// catchUp lets the cache observe what it does not show yet: everything, or one object and not the others.
func (w *worker[O, S, E]) catchUp(out []step, s *state) []step {
	if s.current() {
		return out
	}
	all := s.clone()
	all.seen, all.woken = s.live, true
	stale, gone := s.lagging()
	one := step{name: "the cache catches up", after: all}
	if slices.ContainsFunc(stale, func(r *record) bool { return misses(r, s.seen.Find(r.Kind, r.Key)) }) {
		one.name, one.also = one.name+", without what was in between", Coalesces
	}
	out = append(out, one)
	if len(stale)+len(gone) < 2 {
		return out
	}
	for _, r := range stale {
		next := s.clone()
		next.seen, next.woken = s.seen.With(r), true
		out = append(out, step{name: fmt.Sprintf("the cache shows %s %s and nothing else yet", r.Kind.Kind, r.Key.Name), fault: Lags, after: next})
	}
	for _, r := range gone {
		next := s.clone()
		next.seen, next.woken = s.seen.Without(r.Kind, r.Key), true
		out = append(out, step{name: fmt.Sprintf("the cache shows that %s %s is gone and nothing else yet", r.Kind.Kind, r.Key.Name), fault: Lags, after: next})
	}
	return out
}

// operate lets the operator reconcile, without or with one fault, or restart.
func (w *worker[O, S, E]) operate(out []step, s *state) []step {
	if s.memory != nil {
		restarted := s.clone()
		restarted.memory, restarted.woken, restarted.timer = nil, true, time.Time{}
		out = append(out, step{name: "the operator restarts", fault: Restarts, after: restarted})
	}
	if !s.due() {
		return out
	}
	whole := ""
	if !s.current() {
		whole = string(Lags) // the reconcile precedes the update of the cache
	}
	out = append(out, w.took(s, attempt{class: Fault(whole)}))
	made, asked, shows, committed := slices.Clone(w.calls.made), w.calls.liveReads > 0, w.calls.statusWrites > 0, len(w.passed.edges) > 0
	turn := w.hash(s)
	if committed {
		out = w.goOn(out, s, Fault(whole), turn)
	}
	if shows && s.refused == 0 {
		out = append(out, w.refuse(s))
	}
	if asked {
		out = append(out, w.took(s, attempt{class: Unread, fault: Unread}))
	}
	for i, kind := range made {
		for _, fault := range turns(kind, turn) {
			out = append(out, w.took(s, attempt{class: fault, fault: fault, at: i + 1, external: kind == effect}))
		}
	}
	return out
}

// goOn lets the operator go on after a commit, as its controller does: without a fault, and with one of the faults at the commit, by
// turns. What follows a commit that succeeded is also searched as a reconcile of its own.
func (w *worker[O, S, E]) goOn(out []step, s *state, whole Fault, turn uint64) []step {
	one := w.took(s, attempt{class: whole, continues: true})
	one.also = Continues
	at, all := w.calls.firstStatus, turns(write, turn)
	fault := all[turn%uint64(len(all))]
	return append(out, one, w.took(s, attempt{class: fault, fault: fault, at: at, continues: true}))
}

// attempt is how the operator reconciles once.
type attempt struct {
	// class is what the step counts as, and fault is injected at the call of that number.
	class, fault Fault
	at           int
	// external means that the call is an effect outside the API.
	external bool
	// continues means that the operator reconciles again at once after a commit.
	continues bool
}

func (w *worker[O, S, E]) took(s *state, a attempt) step {
	after := w.pass(s, a)
	name := "the operator reconciles"
	if a.continues {
		name += ", and again at once after a commit"
	}
	switch {
	case a.fault == Unread:
		name += " and the API server does not answer its reads"
	case a.fault != "" && a.external:
		name += fmt.Sprintf("; at its effect %d: %s", a.at, a.fault)
	case a.fault != "":
		name += fmt.Sprintf("; at its write %d: %s", a.at, a.fault)
	}
	return step{name: name, fault: a.class, passes: 1, after: after, passed: w.passed}
}

// happen lets the world change.
func (w *worker[O, S, E]) happen(out []step, s *state) []step {
	if s.world == nil {
		return out
	}
	for _, h := range s.world.Next(w.scenario.at(s)) {
		next := s.clone()
		h.Do(w.scenario.at(next))
		out = append(out, step{name: h.Name, fault: h.Fault, after: next})
	}
	return out
}

// wait lets time pass: until the requeue, or longer while the operator is busy.
func (w *worker[O, S, E]) wait(out []step, s *state) []step {
	if !s.timer.IsZero() && s.timer.After(s.now) {
		next := s.clone()
		next.passes(s.timer)
		out = append(out, step{name: fmt.Sprintf("%s pass", s.timer.Sub(s.now)), after: next})
	}
	for _, leap := range w.subject.Leaps {
		next := s.clone()
		next.passes(s.now.Add(leap))
		out = append(out, step{name: fmt.Sprintf("%s pass while the operator is busy elsewhere", leap), fault: Waits, after: next})
	}
	return out
}

// people lets users change, wipe and pause the object, and delete its children.
func (w *worker[O, S, E]) people(out []step, s *state) []step {
	main := w.main(s.live)
	if main == nil {
		return out
	}
	change := func(name string, fault Fault, do func(client.Object)) {
		next := s.clone()
		if next.changeMain(main, do) || fault == Wiped {
			out = append(out, step{name: name, fault: fault, after: next})
		}
	}
	for _, e := range w.subject.Edits {
		change("a user "+e.Name, Edited, func(o client.Object) {
			if object, ok := o.(O); ok {
				e.Make(object)
			}
		})
	}
	if from, ok := main.Object.(lifecycled); ok && len(from.LifecycleStatus().Lifecycles) > 0 {
		next := s.clone()
		wiped, _ := main.Object.DeepCopyObject().(lifecycled)
		*wiped.LifecycleStatus() = lifecyclev1.Status{}
		next.put(main, wiped)
		next.now = next.now.Add(time.Millisecond) // an attempt that starts after it has another id
		out = append(out, step{name: "a user wipes the status", fault: Wiped, after: next})
	}
	change("a user pauses or resumes the object", PausedBy, toggled)
	if !isDeleting(main) && !slices.Contains(w.subject.Without, Deleted) {
		next := s.clone()
		next.requestDeletion(main)
		out = append(out, step{name: "a user deletes the object", fault: Deleted, after: next})
	}
	if len(w.subject.Edits) > 1 && s.flaps == 0 {
		next := s.clone()
		next.flaps, next.woken = w.subject.Flapping, true
		out = append(out, step{name: fmt.Sprintf("the target changes before each of the next %d reconciles", next.flaps), fault: Flaps, after: next})
	}
	for _, r := range s.live {
		if r != main && !slices.Contains(w.subject.Keep, r.Kind.Kind) {
			next := s.clone()
			next.remove(r)
			w.lose(next, r)
			out = append(out, step{name: fmt.Sprintf("%s %s is deleted", r.Kind.Kind, r.Key.Name), fault: ChildLost, after: next})
		}
	}
	return out
}

func toggled(o client.Object) {
	a := map[string]string{}
	maps.Copy(a, o.GetAnnotations())
	if a[lifecycle.PauseAnnotation] == "true" {
		delete(a, lifecycle.PauseAnnotation)
	} else {
		a[lifecycle.PauseAnnotation] = "true"
	}
	o.SetAnnotations(a)
}

// paused reports whether a user has paused the object.
func (w *worker[O, S, E]) paused(s *state) bool {
	main := w.main(s.live)
	return main != nil && main.Object.GetAnnotations()[lifecycle.PauseAnnotation] == "true"
}
