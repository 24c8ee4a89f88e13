package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// Machine is a machine of this build that lines are replayed against.
type Machine interface {
	// Name of the machine.
	Name() string
	// Replay decides a line with this build. It returns an error if it cannot: the state is unknown, or the facts are not those
	// of this build.
	Replay(line *Line) (Outcome, error)
}

// Outcome of the replay of one line.
type Outcome struct {
	// Now is the transition that this build takes; nil if the lifecycle stays.
	Now *Edge
	// Why the transition differs from the line's: the answers of the guards. Empty if it is the same.
	Why []string
	// Reshaped lists the fields of the facts that only this build or only the journal has.
	Reshaped []string
}

// Of returns a machine for replay. Its facts must encode as JSON, as plain exported fields and transitions.Fact do. restore
// sets what a journal does not contain, such as a table that the operator is built with. Optional; default: nothing is
// restored.
func Of[F, M, E any](machine *machines.Machine[F, M, E], restore func(facts *F)) Machine {
	return &replayed[F, M, E]{machine: machine, def: machine.Definition(), restore: restore}
}

type replayed[F, M, E any] struct {
	machine *machines.Machine[F, M, E]
	def     machines.Definition[F, M, E]
	restore func(*F)
}

func (r *replayed[F, M, E]) Name() string { return r.def.Name }

var errNoFacts = errors.New("the line holds no facts")

// Replay decides a line with this build.
func (r *replayed[F, M, E]) Replay(line *Line) (Outcome, error) {
	var out Outcome
	var facts F
	switch {
	case len(line.Facts) == 0 && line.Problem != "":
		return out, fmt.Errorf("%w: %s", errNoFacts, line.Problem)
	case len(line.Facts) == 0:
		return out, errNoFacts
	}
	if err := json.Unmarshal(line.Facts, &facts); err != nil {
		return out, fmt.Errorf("the facts are not this build's: %w", err)
	}
	out.Reshaped = reshaped(line.Facts, &facts)
	if r.restore != nil {
		r.restore(&facts)
	}
	if err := r.known(line); err != nil {
		return out, err
	}
	evaluation := r.evaluate(line, &facts)
	now, err := decide(evaluation, line)
	if err != nil {
		return out, err
	}
	if out.Now = now; !now.equal(line.Edge) {
		out.Why = r.why(line, &facts, now)
	}
	return out, nil
}

// known reports as an error that this build has neither the state nor a migration from it: the state of the object would be
// inferred again, which is worth a separate reason. A deletion leads from every state to the same one.
func (r *replayed[F, M, E]) known(line *Line) error {
	state := line.state()
	if line.Deleting || state == "" || state == machines.Inferring || r.def.Migrations[state] != "" {
		return nil
	}
	for i := range r.def.States {
		if r.def.States[i].Name == state {
			return nil
		}
	}
	return fmt.Errorf("this build has no state %q and no migration from it: the state would be inferred again", state)
}

func (r *replayed[F, M, E]) evaluate(line *Line, facts *F) machines.Evaluation[E] {
	lc := machines.Bind(r.machine, machines.Binding[struct{}, *F, F, E, E]{
		Name: line.Lifecycle, Facts: func(_ struct{}, facts *F, _ machines.ObserveOptions) F { return *facts },
	}).Evaluator(access.Key{})
	ask := machines.ObserveOptions{Now: line.At}
	for _, need := range r.def.Needs {
		ask.Needs = append(ask.Needs, need.Name) // a fact that was not requested is null in the line
	}
	var entry *lifecyclev1.Lifecycle
	if e := line.Entry; e != nil {
		entry = &lifecyclev1.Lifecycle{Name: line.Lifecycle, State: e.State, Data: e.Data, EnteredAt: metav1.NewTime(e.EnteredAt), Attempt: e.Attempt}
		ask.Attempt, ask.EnteredAt = e.Attempt, e.EnteredAt
	}
	ask.RequestID = machines.RequestIDOf(line.UID, line.Lifecycle, entry)
	return lc.Evaluate(machines.EvaluationInput[struct{}, *F]{Snapshot: facts, UID: line.UID, Generation: line.Generation, Deleting: line.Deleting, Entry: entry, Options: ask})
}

// decide returns the transition that a reconcile would take. The precondition of an action is evaluated only where the line
// says that it was: only there did an action run. It is evaluated first: the line holds the facts of the action, which were read after
// the reconcile had decided to stay, and a transition may be due on them as well.
func decide[E any](evaluation machines.Evaluation[E], line *Line) (*Edge, error) {
	var acting machines.ActionResult[E]
	if is(line.Edge, machines.EventPreconditionFailed) {
		if acting = evaluation.Act(); acting.PreconditionFailed != nil {
			return EdgeOf(acting.PreconditionFailed), nil
		}
	}
	decision := evaluation.Decide()
	if decision.Err == nil && decision.Move == nil && decision.MayAct {
		decision.Err = acting.Err
	}
	unasked := transitions.NotAsked{}
	switch {
	case errors.As(decision.Err, &unasked):
		return nil, fmt.Errorf("this build asks for a fact that was not observed: %w", decision.Err)
	case decision.Err != nil:
		return nil, fmt.Errorf("deciding: %w", decision.Err)
	}
	return EdgeOf(decision.Move), nil
}

// why returns the answers that the guards of both transitions give in this build.
func (r *replayed[F, M, E]) why(line *Line, facts *F, now *Edge) (out []string) {
	defer func() {
		if p := recover(); p != nil {
			out = append(out, fmt.Sprintf("a guard cannot be asked: %v", p))
		}
	}()
	switch {
	case line.Entry == nil && line.Deleting:
		return []string{"the object is being deleted"}
	case line.Entry == nil:
		return []string{"Infer finds another state"}
	}
	data, err := r.def.Data.Decode(line.Entry.Data)
	if err != nil {
		return []string{"this build cannot decode the data: " + err.Error()}
	}
	for i := range r.def.States {
		if s := &r.def.States[i]; s.Name == line.state() && !s.Invariant.IsZero() {
			if v := s.Invariant.Verdict(facts, data); v.Answer == transitions.No {
				out = append(out, "Invariant of "+s.Name+" says no: "+v.Observed)
			}
			if line.Edge != nil && line.Edge.Event == machines.EventPreconditionFailed && s.Action != nil {
				out = append(out, said("Precondition of "+s.Name, s.Action.Precondition, facts, data))
			}
		}
	}
	declared := map[string]bool{
		machines.EventInferred: true, machines.EventMigrated: true, machines.EventTargetChanged: true, machines.EventPreconditionFailed: true,
		machines.EventDeletionRequested: !r.def.Deletion.IsZero(),
	}
	for i := range r.def.Transitions {
		t := &r.def.Transitions[i]
		if t.From != line.state() {
			continue
		}
		declared[t.Event] = true
		if is(line.Edge, t.Event) || is(now, t.Event) {
			out = append(out, saidOf(t, facts, data))
		}
	}
	if line.Edge != nil && !declared[line.Edge.Event] {
		out = append(out, line.Edge.Event+" is not declared any more")
	}
	if is(now, machines.EventTargetChanged) != is(line.Edge, machines.EventTargetChanged) {
		out = append(out, fmt.Sprintf("the target is %q", r.def.Target(facts).To))
	}
	return out
}

func is(edge *Edge, event string) bool { return edge != nil && edge.Event == event }

func saidOf[F, M any](t *machines.Transition[F, M], facts *F, data M) string {
	if t.Choose == nil {
		return said(t.Event, t.When, facts, data)
	}
	verdict, _ := t.Choose.Pick(facts, data)
	return worded(t.Event, t.Choose.Guard.Name, verdict)
}

// said returns the answer of the guard: what keeps it from saying yes, or that it says yes.
func said[F, M any](of string, guard transitions.Guard[F, M], facts *F, data M) string {
	var parts []string
	for _, b := range guard.Blockers(facts, data) {
		parts = append(parts, worded("", b.Guard, b.Verdict))
	}
	if len(parts) == 0 {
		return of + ": " + guard.Name + " says yes"
	}
	return of + ": " + strings.Join(parts, "; ")
}

func worded(of, guard string, v transitions.Verdict) string {
	text := guard + " says " + v.Answer.String()
	if of != "" {
		text = of + ": " + text
	}
	if v.Answer != transitions.Yes && v.Observed != "" {
		text += " (" + v.Observed + ")"
	}
	return text
}

// reshaped lists the fields that only the journal's facts or only this build's facts have.
func reshaped[F any](recorded json.RawMessage, facts *F) []string {
	coded, err := json.Marshal(facts)
	if err != nil {
		return nil
	}
	was, is := fields(recorded), fields(coded)
	var out []string
	for name := range was {
		if !is[name] {
			out = append(out, name+" is gone")
		}
	}
	for name := range is {
		if !was[name] {
			out = append(out, name+" is new")
		}
	}
	slices.Sort(out)
	return out
}

// fields returns the keys of an object and of the objects in it. It leaves out the keys of maps within costly facts, which are
// data.
func fields(text []byte) map[string]bool {
	out := map[string]bool{}
	var top map[string]json.RawMessage
	if json.Unmarshal(text, &top) != nil {
		return out
	}
	for name, value := range top {
		out[name] = true
		var inner map[string]json.RawMessage
		if json.Unmarshal(value, &inner) != nil {
			continue
		}
		if _, known := inner["known"]; known || inner["pending"] != nil || inner["unreadable"] != nil {
			continue
		}
		for key := range maps.Keys(inner) {
			out[name+"."+key] = true
		}
	}
	return out
}
