package machinetest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

const (
	rowUID       = "machinetest"
	rowLifecycle = "lifecycle"
)

// driven is a machine that is bound to facts alone.
type driven[F, E any] struct {
	machines.Evaluator[struct{}, *F, E]
}

// drive binds the machine. With a shape, facts that are not requested are blanked, as a kind leaves them out.
func drive[F, D, E any](m *machines.Machine[F, D, E], shape *shape) driven[F, E] {
	return driven[F, E]{machines.Bind(m, machines.Binding[struct{}, *F, F, E, E]{
		Name: rowLifecycle,
		Facts: func(_ struct{}, facts *F, ask machines.ObserveOptions) F {
			if shape == nil {
				return *facts
			}
			return blanked(shape, *facts, ask.Needs)
		},
	}).Evaluator(access.Key{})}
}

// outcome is the result for a persisted state and facts.
type outcome[E any] struct {
	err     error
	event   string
	to      string
	data    map[string]string
	attempt string
	waiting []string
	mayAct  bool
	effects []E
	blocked []string
}

func (d driven[F, E]) evaluation(entry *lifecyclev1.Lifecycle, facts *F, needs []transitions.Need) machines.Evaluation[E] {
	q := machines.EvaluationInput[struct{}, *F]{Snapshot: facts, UID: rowUID, Entry: entry, Options: machines.ObserveOptions{
		Needs: needs, Now: Start, RequestID: machines.RequestIDOf(rowUID, rowLifecycle, entry),
	}}
	if entry != nil {
		q.Options.Attempt, q.Options.EnteredAt = entry.Attempt, entry.EnteredAt.Time
		q.Deleting = entry.Attempt != nil && entry.Attempt.To == machines.DeletionTarget
	}
	return d.Evaluate(q)
}

// follow evaluates the transitions and, if the lifecycle stays, what it waits for and the effects of its action.
func (d driven[F, E]) follow(entry *lifecyclev1.Lifecycle, facts *F) outcome[E] {
	needs := d.Needs(entry)
	evaluation := d.evaluation(entry, facts, needs)
	decision := evaluation.Decide()
	if len(decision.Needs) > 0 {
		evaluation = d.evaluation(entry, facts, union(needs, decision.Needs))
		decision = evaluation.Decide()
	}
	out := outcome[E]{err: decision.Err, mayAct: decision.MayAct}
	switch {
	case out.err != nil:
	case decision.Move != nil:
		out.moved(entry, decision.Move)
	case entry != nil:
		out.waiting, out.err = waitingFor(evaluation.Project())
		if action, acts := d.Action(entry.State); acts && decision.MayAct && out.err == nil {
			if evaluation = d.evaluation(entry, facts, union(needs, action.Needs)); !action.Live || !evaluation.Idle() {
				out.acted(entry, evaluation.Act())
			}
		}
	}
	return out
}

func (o *outcome[E]) moved(entry *lifecyclev1.Lifecycle, move *machines.Move) {
	o.event, o.to, o.data, o.waiting = move.Event, move.To, move.Data, nil
	switch {
	case move.Attempt == nil:
		o.attempt = "none"
	case entry != nil && machines.SameAttempt(entry.Attempt, move.Attempt):
		o.attempt = "kept"
	default:
		o.attempt = "new"
	}
}

func (o *outcome[E]) acted(entry *lifecyclev1.Lifecycle, acting machines.ActionResult[E]) {
	o.err, o.effects = acting.Err, acting.Effects
	if acting.PreconditionFailed != nil {
		o.moved(entry, acting.PreconditionFailed)
		return
	}
	for _, b := range acting.Blocked {
		o.blocked = append(o.blocked, b.Guard)
	}
	slices.Sort(o.blocked)
}

// enter returns the entry after the outcome. It fails on an edge that the graph does not contain.
func (d driven[F, E]) enter(entry *lifecyclev1.Lifecycle, facts *F, o *outcome[E]) (lifecyclev1.Lifecycle, error) {
	from := ""
	if entry != nil {
		from = entry.State
	}
	return d.evaluation(entry, facts, d.NeedsIn(o.to)).Enter(machines.Move{Event: o.event, From: from, To: o.to, Data: o.data})
}

func waitingFor(entry lifecyclev1.Lifecycle) ([]string, error) {
	var names []string
	for _, w := range entry.WaitingFor {
		if w.Guard == "defect" {
			return nil, errors.New(w.Observed)
		}
		names = append(names, w.Guard)
	}
	slices.Sort(names)
	return names, nil
}

// same reports whether a table that expects one outcome accepts the other.
func (o *outcome[E]) same(other *outcome[E]) bool {
	return (o.err == nil) == (other.err == nil) && o.event == other.event && o.to == other.to && o.attempt == other.attempt &&
		maps.Equal(o.data, other.data) && slices.Equal(o.waiting, other.waiting) && slices.Equal(o.blocked, other.blocked) &&
		(len(o.effects) == 0 && len(other.effects) == 0 || reflect.DeepEqual(o.effects, other.effects))
}

// entryOf returns the entry of a row: entered a minute ago, in an attempt that started an hour ago.
func entryOf(state string, data map[string]string, target string) *lifecyclev1.Lifecycle {
	if state == "" {
		return nil
	}
	entry := Entry(rowLifecycle, state).Data(data).Entered(Start.Add(-time.Minute))
	if target != NoAttempt {
		entry.Attempt(Attempt(rowUID, rowLifecycle, target, Start.Add(-time.Hour)))
	}
	return entry.Obj()
}

// safely calls run and returns a panic as an error.
func safely(run func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			var ok bool
			if err, ok = p.(error); !ok {
				err = fmt.Errorf("panic: %v", p)
			}
		}
	}()
	run()
	return nil
}

func union(a, b []transitions.Need) []transitions.Need {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
