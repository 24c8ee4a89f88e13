package verification

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
)

// from follows the edges from a persisted state, or from none, on unchanged facts, until the lifecycle stays. A place that
// occurs twice on the way would occur for ever.
func (w *walk[F, D, E]) from(entry *lifecyclev1.Lifecycle, facts *F) {
	var trail []step // the edges between the places
	var places []string
	seen := *facts
	for {
		next, move, err := w.follow(entry, &seen)
		if err != nil {
			at := machines.Inferring
			if entry != nil {
				at = entry.State
			}
			w.v.findOnce(Gap, "state "+at, fmt.Sprintf("it cannot decide: %v: %s", err, w.name()), mendDefect)
			break
		}
		if next == nil {
			break
		}
		entry = next
		if w.d.Enter != nil {
			w.d.Enter(&seen, entry)
		}
		place := placeOf(entry)
		if w.settled[place] {
			break
		}
		trail = append(trail, step{move.Event, move.From, move.To})
		if i := slices.Index(places, place); i >= 0 {
			w.round(trail[i+1:], entry)
			break
		}
		places = append(places, place)
	}
	for _, place := range places {
		w.settled[place] = true
	}
}

// placeOf returns everything that the next decision depends on while the facts stay the same.
func placeOf(entry *lifecyclev1.Lifecycle) string {
	var b strings.Builder
	b.WriteString(entry.State)
	for _, key := range slices.Sorted(maps.Keys(entry.Data)) {
		b.WriteString(" " + key + "=" + entry.Data[key])
	}
	if entry.Attempt != nil {
		b.WriteString(" from " + entry.Attempt.From + " to " + entry.Attempt.To)
	}
	return b.String()
}

// round reports a livelock once, wherever it was entered.
func (w *walk[F, D, E]) round(trail []step, entry *lifecyclev1.Lifecycle) {
	first := 0
	for i := range trail {
		if w.v.place(trail[i].from) < w.v.place(trail[first].from) {
			first = i
		}
	}
	trail = slices.Concat(trail[first:], trail[:first])
	w.v.findOnce(Livelock, rounded(trail), fmt.Sprintf("it loops on unchanged facts; %s: %s", w.v.bound(trail), w.name()),
		"let one of its guards exclude another one; if a visit of a state ends it, let the domain's Enter set that")
	w.settled[placeOf(entry)] = true
}

// follow takes the edge that a reconcile would take, including precondition-failed. A nil entry means that the lifecycle stays.
func (w *walk[F, D, E]) follow(entry *lifecyclev1.Lifecycle, facts *F) (*lifecyclev1.Lifecycle, *machines.Move, error) {
	evaluation := w.evaluation(entry, facts)
	decision := evaluation.Decide()
	if decision.Err != nil {
		return nil, nil, decision.Err
	}
	move := decision.Move
	if move == nil && entry != nil && decision.MayAct {
		if _, acts := w.lc.Action(entry.State); acts {
			acting := evaluation.Act()
			if acting.Err != nil {
				return nil, nil, acting.Err
			}
			move = acting.PreconditionFailed
		}
	}
	if move == nil {
		return nil, nil, nil
	}
	// The other fields that a reconcile sets do not affect decisions.
	next := &lifecyclev1.Lifecycle{Name: lifecycle, State: move.To, EnteredAt: metav1.NewTime(start()), Data: move.Data, Attempt: move.Attempt}
	return next, move, nil
}

func (w *walk[F, D, E]) evaluation(entry *lifecyclev1.Lifecycle, facts *F) machines.Evaluation[E] {
	q := machines.EvaluationInput[struct{}, *F]{Snapshot: facts, UID: uid, Entry: entry, Options: machines.ObserveOptions{
		Needs: w.needs, Now: start(), RequestID: machines.RequestIDOf(uid, lifecycle, entry),
	}}
	q.Deleting = w.deleting
	if entry != nil {
		q.Options.Attempt, q.Options.EnteredAt = entry.Attempt, entry.EnteredAt.Time
	}
	return w.lc.Evaluate(q)
}
