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
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// Machine of this build that lines are replayed against.
type Machine interface {
	// Name of the machine.
	Name() string
	// Replay decides a line anew. An error says why it cannot: the state is unknown, the facts are other ones than this build's.
	Replay(line *Line) (Outcome, error)
}

// Outcome of a line that was decided anew.
type Outcome struct {
	// Now is the edge that this build takes; nil if the lifecycle stays.
	Now *Edge
	// Why it is another one than the line's: what guards say. Empty if it is the same.
	Why []string
	// Reshaped lists the fields of the facts that this build has and the journal's had not, or the other way round.
	Reshaped []string
}

// Of makes a machine replayable. Its facts must code as JSON, which plain exported fields and transitions.Fact do. restore fills
// in what a journal does not hold, such as a table of the operator's own; nil if there is nothing of the sort.
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

// Replay decides a line anew.
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
	look := r.look(line, &facts)
	now, err := decide(look, line)
	if err != nil {
		return out, err
	}
	if out.Now = now; !now.equal(line.Edge) {
		out.Why = r.why(line, &facts, now)
	}
	return out, nil
}

// known says whether this build has the state, or knows what became of it. That it has not is worth telling apart: the object
// would be located anew.
func (r *replayed[F, M, E]) known(line *Line) error {
	state := line.state()
	if state == "" || state == machines.Locating || r.def.Migrations[state] != "" {
		return nil
	}
	for i := range r.def.States {
		if r.def.States[i].Name == state {
			return nil
		}
	}
	return fmt.Errorf("this build has no state %q and no migration from it: the lifecycle would be located anew", state)
}

func (r *replayed[F, M, E]) look(line *Line, facts *F) machines.Look[E] {
	lc := machines.Bind(r.machine, machines.Binding[struct{}, *F, F, E, E]{
		Name: line.Lifecycle, Observe: func(_ struct{}, facts *F, _ machines.Ask) F { return *facts }, Effect: func(e E) E { return e },
	})
	ask := machines.Ask{Now: line.At}
	for _, need := range r.def.Needs {
		ask.Needs = append(ask.Needs, need.Name) // what was not asked for says so itself
	}
	var entry *lifecyclev1.Lifecycle
	if e := line.Entry; e != nil {
		entry = &lifecyclev1.Lifecycle{Name: line.Lifecycle, State: e.State, Memo: e.Memo, EnteredAt: metav1.NewTime(e.EnteredAt), Attempt: e.Attempt}
		ask.Attempt, ask.EnteredAt = e.Attempt, e.EnteredAt
	}
	ask.Ticket = machines.TicketOf(line.UID, line.Lifecycle, entry)
	return lc.Look(machines.Question[struct{}, *F]{View: facts, UID: line.UID, Generation: line.Generation, Entry: entry, Ask: ask})
}

// decide takes the edge that a pass would take. Only an action is turned back, so that it is asked where the line says that it was.
func decide[E any](look machines.Look[E], line *Line) (*Edge, error) {
	decision := look.Decide()
	if decision.Err == nil && decision.Move == nil && decision.MayAct && line.Edge != nil && line.Edge.Event == machines.EventTurnedBack {
		acting := look.Act()
		decision.Err, decision.Move = acting.Err, acting.TurnBack
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

// why says what the guards of both edges say today.
func (r *replayed[F, M, E]) why(line *Line, facts *F, now *Edge) (out []string) {
	defer func() {
		if p := recover(); p != nil {
			out = append(out, fmt.Sprintf("a guard cannot be asked: %v", p))
		}
	}()
	if line.Entry == nil {
		return []string{"Locate finds another state"}
	}
	memo, err := r.def.Memo.Decode(line.Entry.Memo)
	if err != nil {
		return []string{"this build cannot decode the memo: " + err.Error()}
	}
	for i := range r.def.States {
		if s := &r.def.States[i]; s.Name == line.state() && !s.While.IsZero() {
			if v := s.While.Verdict(facts, memo); v.Answer == transitions.No {
				out = append(out, "While of "+s.Name+" says no: "+v.Saw)
			}
			if line.Edge != nil && line.Edge.Event == machines.EventTurnedBack && s.Do != nil {
				out = append(out, said("Before of "+s.Name, s.Do.Before, facts, memo))
			}
		}
	}
	declared := map[string]bool{machines.EventLocated: true, machines.EventMigrated: true, machines.EventTargetChanged: true, machines.EventTurnedBack: true}
	for i := range r.def.Transitions {
		t := &r.def.Transitions[i]
		if t.From != line.state() {
			continue
		}
		declared[t.Event] = true
		if is(line.Edge, t.Event) || is(now, t.Event) {
			out = append(out, saidOf(t, facts, memo))
		}
	}
	if line.Edge != nil && !declared[line.Edge.Event] {
		out = append(out, line.Edge.Event+" is not declared any more")
	}
	if is(now, machines.EventTargetChanged) != is(line.Edge, machines.EventTargetChanged) {
		out = append(out, fmt.Sprintf("the target is %q", r.def.Target.Of(facts).To))
	}
	return out
}

func is(edge *Edge, event string) bool { return edge != nil && edge.Event == event }

func saidOf[F, M any](t *machines.Transition[F, M], facts *F, memo M) string {
	if t.Choose == nil {
		return said(t.Event, t.When, facts, memo)
	}
	verdict, _ := t.Choose.Pick(facts, memo)
	return worded(t.Event, t.Choose.Guard.Name, verdict)
}

// said is what keeps a guard from saying yes, or that it does.
func said[F, M any](of string, guard transitions.Guard[F, M], facts *F, memo M) string {
	var parts []string
	for _, b := range guard.Blockers(facts, memo) {
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
	if v.Answer != transitions.Yes && v.Saw != "" {
		text += " (" + v.Saw + ")"
	}
	return text
}

// reshaped lists the fields that only the journal's facts, or only this build's, have.
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

// fields are the keys of an object and of the objects in it, but for those of maps within costly facts, whose keys are data.
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
