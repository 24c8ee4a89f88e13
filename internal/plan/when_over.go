package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
)

const (
	// quiet is how long nothing may happen until the plan ends. It is longer than any poll interval, back-off or pause in between.
	quiet = 30 * time.Second
	// stuck is how long a stalled lifecycle may remain stalled before the plan ends, and how long nothing may happen before it leaves
	// out the polls of a wait that no time ends.
	stuck = 10 * time.Minute
)

// ending tracks whether the plan of one object has ended.
type ending struct {
	over bool
	// stalledSince is when the object became stalled; zero while it is not.
	stalledSince time.Time
	// holds are the situations in which a lifecycle entered a hold state. The same situation twice means an endless loop.
	holds map[string]mark
	// cut is set in an endless loop: everything recorded after it is a repetition.
	cut *mark
	// seen is the number of transitions that have been examined.
	seen int
}

// mark is a position in the record of an object.
type mark struct {
	steps   map[string]int
	effects int
	object  found
}

// over reports whether nothing more can happen to any object before the next job is due.
func (e *engine) over(next time.Time) bool {
	done := true
	for _, k := range e.objects() {
		end := e.ends[k.subject()]
		if end == nil {
			end = &ending{holds: map[string]mark{}}
			e.ends[k.subject()] = end
		}
		if !end.over {
			end.over = e.ended(k, end, next)
		}
		done = done && end.over
	}
	return done
}

// sleeps returns the end of a planned pause, or the deadline of a wait that nothing else ends, and whether the object needs no reconcile
// until then.
func (e *engine) sleeps(j job, at time.Time) (until time.Time, sleeps bool) {
	if j.driver < 0 || at.Sub(e.changed) < quiet {
		return until, false
	}
	for _, k := range e.objects() {
		if client.ObjectKeyFromObject(k) == j.name && e.isOwn(&e.drivers[j.driver], k.kind.Name) {
			if rests, ahead := e.resting(k); rests {
				return ahead, ahead.After(at)
			}
			deadline, fixed := e.fixed(k)
			return deadline, fixed && at.Sub(e.changed) >= stuck && deadline.After(at) // what the operator times itself has ended by then
		}
	}
	return until, false
}

// fixed reports whether nothing happens to the object before a deadline, and returns the first one: every lifecycle is at rest or in a
// timeless state, and no event of the simulated systems is ahead.
func (e *engine) fixed(k found) (deadline time.Time, fixed bool) {
	for _, s := range e.simulations {
		if _, ahead := s.Next(); ahead {
			return deadline, false
		}
	}
	for _, l := range k.entries() {
		switch {
		case l.known && l.state.Kind == string(states.Rest):
		case !l.known, l.Deadline == nil, !slices.Contains(k.kind.Timeless[l.graph.Name], l.State):
			return deadline, false
		case deadline.IsZero(), l.Deadline.Before(&metav1.Time{Time: deadline}):
			deadline = l.Deadline.Time
		}
	}
	return deadline, true
}

func (e *engine) ended(k found, end *ending, next time.Time) bool {
	if e.goesRound(k, end) {
		return true
	}
	rests, ahead := e.resting(k)
	stalls := !rests && e.stalls(k)
	if !stalls {
		end.stalledSince = time.Time{}
	} else if end.stalledSince.IsZero() {
		end.stalledSince = e.clock.now
	}
	if next.Sub(e.changed) < quiet {
		return stalls && next.Sub(end.stalledSince) >= stuck
	}
	switch {
	case k.paused(), k.GetDeletionTimestamp() != nil, stalls:
		return true
	case len(k.entries()) < len(k.kind.Lifecycles):
		return next.Sub(e.begin) >= stuck
	}
	return rests && !ahead.After(e.clock.now)
}

// stalls reports whether every active lifecycle has passed its deadline or its limit of transitions, or has a defect or instances that are not managed.
func (e *engine) stalls(k found) bool {
	if c := meta.FindStatusCondition(k.LifecycleStatus().Conditions, lifecycle.Stalled); c != nil && c.Status == metav1.ConditionTrue && (c.Reason == lifecycle.Defect || c.Reason == lifecycle.InstancesNotManaged) {
		return true
	}
	for _, l := range k.entries() {
		switch {
		case !l.known, atRest(l.state):
		case l.Deadline != nil && !e.clock.now.Before(l.Deadline.Time):
		case l.TransitionsSinceProgress > l.graph.MaxTransitionsWithoutProgress:
		default:
			return false
		}
	}
	return true
}

func atRest(s machines.GraphState) bool {
	return s.Kind == string(states.Rest) || s.Kind == string(states.Hold)
}

// resting reports whether every lifecycle is at rest or on hold, and returns the end of the last planned pause.
func (e *engine) resting(k found) (rests bool, ahead time.Time) {
	for _, l := range k.entries() {
		if !l.known || !atRest(l.state) {
			return false, ahead
		}
		if l.state.Kind == string(states.Hold) && l.Deadline != nil && l.Deadline.After(ahead) {
			ahead = l.Deadline.Time
		}
	}
	return k.LifecycleStatus().ObservedGeneration == k.GetGeneration() || held(k), ahead
}

func held(k found) bool {
	return slices.ContainsFunc(k.entries(), func(l entry) bool { return l.state.Kind == string(states.Hold) })
}

// goesRound reports whether a lifecycle has entered a hold state in the same situation again. The operator would then repeat the
// same steps forever.
func (e *engine) goesRound(k found, end *ending) bool {
	t := e.recorder.tracks[k.subject()]
	steps := 0
	for _, path := range t.path {
		steps += len(path)
	}
	if steps == end.seen {
		return false
	}
	end.seen = steps
	var place strings.Builder
	holds := false
	for _, l := range k.entries() {
		holds = holds || l.state.Kind == string(states.Hold)
		if !atRest(l.state) {
			return false
		}
		fmt.Fprintf(&place, "%s=%s %v %v;", l.Name, l.State, l.Data, l.WaitingFor)
		if l.Attempt != nil {
			place.WriteString(l.Attempt.ID)
		}
	}
	if !holds {
		return false
	}
	if before, again := end.holds[place.String()]; again {
		end.cut = &before
		return true
	}
	m := mark{steps: map[string]int{}, effects: len(t.effects), object: k.copied()}
	for name, path := range t.path {
		m.steps[name] = len(path)
	}
	end.holds[place.String()] = m
	return false
}
