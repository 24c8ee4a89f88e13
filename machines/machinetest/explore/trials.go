package explore

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// refusedPasses is the number of reconciles in which status writes are refused: more than a lost child may be missing.
const refusedPasses = 12

// forbidden is another answer to a refused status write.
const forbidden Fault = "403"

// refusal returns the answer to status writes, alternating 403 and 422; empty if they are accepted.
func (s *state) refusal() Fault {
	switch {
	case s.refused == 0:
		return ""
	case s.refused%2 == 0:
		return forbidden
	}
	return Invalid
}

// loss is a lost child that must be restored.
type loss struct {
	kind schema.GroupVersionKind
	key  types.NamespacedName
	// passes is the number of reconciles that could have restored it and did not.
	passes int
}

// transitionCount is that of one lifecycle, counted as the runtime's limit does: one is refilled per minute, and all with progress.
type transitionCount struct {
	lifecycle   string
	transitions float64
	at          time.Time
	done        int32
	// held is the number of reconciles since the last transition in which a due transition was not taken.
	held int
}

// appendTrials appends the faults that last for several reconciles. Transitions are not compared: of equal states the first one
// is kept.
func (s *state) appendTrials(dst []byte) []byte {
	dst = append(dst, byte(s.refused), byte(s.flaps), byte(s.flaps>>8)) //nolint:gosec // a few hundred at most
	for i := range s.lost {
		dst = append(append(dst, s.lost[i].key.Name...), byte(s.lost[i].passes)) //nolint:gosec // a few
	}
	return dst
}

// refuse lets the operator reconcile with a status write, which is refused from then on.
func (w *worker[O, S, E]) refuse(s *state) step {
	refusing := s.clone()
	refusing.refused = refusedPasses
	one := w.took(refusing, attempt{class: StatusRefused})
	one.name = fmt.Sprintf("every status write is refused from now on, for %d reconciles; %s", refusedPasses, one.name)
	return one
}

// flapPause is the interval at which the target changes.
const flapPause = 200 * time.Millisecond

// flap changes the target before a reconcile. The cache shows it at once.
func (w *worker[O, S, E]) flap(s *state) {
	main := w.main(s.live)
	if s.flaps == 0 || main == nil {
		s.flaps = 0
		return
	}
	s.flaps--
	s.passes(s.now.Add(flapPause))
	edit := w.subject.Edits[s.flaps%len(w.subject.Edits)]
	next, ok := main.Object.DeepCopyObject().(O)
	if !ok {
		return
	}
	edit.Make(next)
	if string(textOf(next)) == string(textOf(main.Object)) {
		return
	}
	next.SetGeneration(next.GetGeneration() + 1)
	s.put(main, next)
	s.seen = s.seen.With(w.main(s.live))
}

// lose records a child that must be restored.
func (w *worker[O, S, E]) lose(s *state, r *record) {
	if slices.Contains(w.subject.Restored, r.Kind.Kind) {
		s.lost = append(slices.Clip(s.lost), loss{kind: r.Kind, key: r.Key})
	}
}

// judgePass checks what a single reconcile does not show: whether lost children are restored, and whether transitions are
// limited and the limit is visible. whole means that no fault other than refused status writes occurred and that the cache was
// current. begun means that the process had just started.
func (w *worker[O, S, E]) judgePass(s *state, begun, whole bool) {
	main := w.main(s.live)
	if main == nil {
		s.lost, s.counts = nil, nil
		return
	}
	whole = whole && !w.calls.dead && !w.paused(s)
	w.judgeLost(s, whole)
	w.judgeTransitions(s, main, begun, whole)
}

func (w *worker[O, S, E]) judgeLost(s *state, whole bool) {
	var lost []loss
	whole = whole && (w.subject.RestoredIf == nil || w.subject.RestoredIf(s.world))
	for _, l := range s.lost {
		if s.live.Find(l.kind, l.key) != nil {
			continue
		}
		l.passes++
		if !whole {
			l.passes = 0
		}
		if l.passes > w.subject.RestoredWithin {
			w.passed.wrong("%s %s was lost and is not restored within %d reconciles although the API accepts writes", l.kind.Kind, l.key.Name, w.subject.RestoredWithin)
			continue
		}
		lost = append(lost, l)
	}
	s.lost = lost
}

// mostHeld is the number of reconciles that may delay a transition before the status must show it: one may have another cause.
const mostHeld = 2

func (w *worker[O, S, E]) judgeTransitions(s *state, main *record, begun, whole bool) {
	lifecycles := w.instances(main.Object)
	counts := make([]transitionCount, len(lifecycles))
	for i, lc := range lifecycles {
		t, e := &counts[i], entryOf(main.Object, lc.Name())
		if old := slices.IndexFunc(s.counts, func(t transitionCount) bool { return t.lifecycle == lc.Name() }); old >= 0 && !begun {
			*t = s.counts[old]
		}
		t.lifecycle = lc.Name()
		t.transitions = max(0, t.transitions-s.now.Sub(t.at).Minutes())
		t.at = s.now
		taken := slices.ContainsFunc(w.passed.edges, func(e edge) bool { return e.lifecycle == t.lifecycle })
		switch {
		case taken:
			t.transitions++
			t.held = 0
		case whole && s.refused == 0 && slices.Contains(w.passed.wanted, t.lifecycle):
			t.held++
		}
		if e != nil && e.Progress != nil {
			if e.Progress.Done > t.done {
				t.transitions = 0
			}
			t.done = e.Progress.Done
		}
		w.judgeCount(t, main)
	}
	s.counts = counts
}

func (w *worker[O, S, E]) judgeCount(t *transitionCount, main *record) {
	most := float64(w.subject.Transitions)
	if t.transitions > most+1 {
		w.passed.wrong("lifecycle %s takes more than %d transitions without progress", t.lifecycle, w.subject.Transitions)
		t.transitions = 0
	}
	from, ok := main.Object.(lifecycled)
	if !ok || t.held <= mostHeld || t.transitions < most/2 {
		return
	}
	if !meta.IsStatusConditionTrue(from.LifecycleStatus().Conditions, lifecycle.Stalled) {
		w.passed.wrong("a transition of lifecycle %s is delayed, and the status does not show that it is stalled", t.lifecycle)
	}
}
