package machines

import (
	"slices"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Lifecycle is a machine bound to a kind of object, for the runtime, the plan and the exploration.
//
// O is the object, V the snapshot that the kind observes once per reconcile (plain values), E the kind's effects. A Lifecycle
// is pure: all its inputs are arguments, and it has no side effects.
type Lifecycle[O, V, E any] interface {
	// Name of the lifecycle, the key in status.lifecycles.
	Name() string
	// Graph of its machine.
	Graph() Graph
	// MaxEdges is the number of transitions without progress after which an attempt is Stalled.
	MaxEdges() int32
	// State returns the declared state of that name, and false for an unknown name.
	State(name string) (states.State, bool)
	// Needs returns the costly facts that a decision needs in the entry's state. Nil means that there is no entry.
	Needs(entry *lifecyclev1.Lifecycle) []transitions.Need
	// NeedsIn returns the costly facts that the status of a lifecycle in the state shows.
	NeedsIn(state string) []transitions.Need
	// Action describes the action of the state; ok is false for a state without an action.
	Action(state string) (action ActionInfo, ok bool)
	// Need returns the declaration of a costly fact.
	Need(name transitions.Need) Need
	// Look reads the facts from the snapshot, once.
	Look(q Question[O, V]) Look[E]
}

// ActionInfo describes an action before it is evaluated.
type ActionInfo struct {
	Name string
	// Needs of the action and of its Before.
	Needs []transitions.Need
	// Live requires a live snapshot, because the action is destructive.
	Live bool
	// LookAgain is the requeue delay after the action executed an effect.
	LookAgain time.Duration
	Backoff   states.Backoff
}

// Question is the complete input of one evaluation of a lifecycle.
type Question[O, V any] struct {
	Object O
	View   V
	// UID and Generation of the object.
	UID        string
	Generation int64
	// Entry is the persisted state, or nil. It is never modified.
	Entry *lifecyclev1.Lifecycle
	Ask   Ask
	// DeadlineScale multiplies every declared deadline. 0 means 1.
	DeadlineScale float64
}

// Ask says what an observation is for.
type Ask struct {
	// Needs are the costly facts that are requested. All other costly facts stay zero.
	Needs []transitions.Need
	// Live requires facts that are read from their source in this reconcile.
	Live bool
	// Now is the time of the reconcile: a fact like any other.
	Now time.Time
	// Ticket identifies the requests of this entry to external systems.
	Ticket Ticket
	// Attempt in progress according to the persisted state, and when its state was entered. They may name things (an approval,
	// a soaking time); the actual state is observed.
	Attempt   *lifecyclev1.Attempt
	EnteredAt time.Time
}

// For reports whether the need is requested.
func (a Ask) For(need transitions.Need) bool { return slices.Contains(a.Needs, need) }

// Ticket identifies a request to an external system. An answer belongs to one visit of one state.
type Ticket struct {
	UID, Lifecycle, Attempt, State string
	// Sequence increases with each visit of the state within the attempt.
	Sequence int64
}

// TicketOf returns the ticket of the entry.
func TicketOf(uid, lifecycle string, entry *lifecyclev1.Lifecycle) Ticket {
	t := Ticket{UID: uid, Lifecycle: lifecycle}
	if entry != nil {
		t.State = entry.State
		// No other field increases with every visit: clocks may be set back and have seconds only, Edges restarts at zero on
		// progress, and the history drops its oldest transitions.
		t.Sequence = int64(entry.Transitions)
		if entry.Attempt != nil {
			t.Attempt = entry.Attempt.ID
		}
	}
	return t
}

// Look is the evaluation of one lifecycle on the facts of one snapshot.
type Look[E any] interface {
	// Decide returns the transition to take, if any.
	Decide() Decision
	// Enter returns the entry after the move, with what its state waits for. The facts must include NeedsIn of the target
	// state. It fails on a move that the graph does not contain.
	Enter(Move) (lifecyclev1.Lifecycle, error)
	// Project returns the entry with the current waitingFor and progress. State, attempt and history stay.
	Project() lifecyclev1.Lifecycle
	// Open returns the events of the transitions out of the entry's state whose guards say yes, in order of declaration,
	// starting with the one that Decide takes. Several events are an overlap that the order decides; tests report it.
	Open() []string
	// Idle reports that the state's action returns no effects, and that the facts contain everything that it reads. Only for a
	// state with an action.
	Idle() bool
	// Act evaluates the state's action: on a live snapshot if the action requires one.
	Act() Acting[E]
	// Facts returns a pointer to the facts of this evaluation, for a journal. They must not be modified.
	Facts() any
}

// Decision is the result of evaluating the transitions of a lifecycle.
type Decision struct {
	// Move is the transition to take, or nil.
	Move *Move
	// MayAct means that the state's invariant holds, so that the state's action may run.
	MayAct bool
	// Decided means that the lifecycle has evaluated the object's generation: it knows the target and stays with it. At Rest
	// and in a Hold no evaluated guard may be unknown; otherwise a change could be missed while the object looks settled.
	Decided bool
	// Silent means that there is no entry and that the first answers are still pending.
	Silent bool
	// Needs are facts that are required to infer the state and that were not requested, because the persisted state was
	// expected to be true: observe again with them and evaluate again.
	Needs []transitions.Need
	// Shadowed is the transition that a wrong invariant prevents: its guard says yes where While says no. The machine reaches
	// the state all the same by inference, so that the defect would go unnoticed.
	Shadowed string
	// Err is a defect of the machine (an undeclared read, a panic). It names the guard.
	Err error
}

// Move is a transition to take.
type Move struct {
	Event, From, To string
	Memo            map[string]string
	// Attempt that the entry will carry; nil for none.
	Attempt *lifecyclev1.Attempt
	OneWay  bool
}

// Acting is the result of evaluating an action.
type Acting[E any] struct {
	Effects []E
	// TurnBack is the transition to take because Before said no.
	TurnBack *Move
	// Blocked are the parts of Before that do not say yes.
	Blocked []transitions.Blocker
	Err     error
}

// Binding connects a machine to a kind.
type Binding[O, V, F, FX, E any] struct {
	// Name of the lifecycle. Required.
	Name string
	// Observe returns the facts from the snapshot. It must be pure. Costly facts that ask does not request stay zero. Required.
	Observe func(object O, view V, ask Ask) F
	// Effect converts the machine's effect to the kind's. Required.
	Effect func(FX) E
}

// Bind returns the lifecycle of a compiled machine for a kind.
func Bind[O, V, F, M, FX, E any](machine *Machine[F, M, FX], binding Binding[O, V, F, FX, E]) Lifecycle[O, V, E] {
	return &bound[O, V, F, M, FX, E]{machine: machine, binding: binding}
}

type bound[O, V, F, M, FX, E any] struct {
	machine *Machine[F, M, FX]
	binding Binding[O, V, F, FX, E]
}

func (b *bound[O, V, F, M, FX, E]) Name() string { return b.binding.Name }
func (b *bound[O, V, F, M, FX, E]) Graph() Graph { return b.machine.graph }

func (b *bound[O, V, F, M, FX, E]) MaxEdges() int32 { return b.machine.def.MaxEdges }

func (b *bound[O, V, F, M, FX, E]) State(name string) (states.State, bool) {
	n, ok := b.machine.states[name]
	if !ok {
		return states.State{}, false
	}
	return n.State.State, true
}

func (b *bound[O, V, F, M, FX, E]) Needs(entry *lifecyclev1.Lifecycle) []transitions.Need {
	if entry == nil {
		return b.machine.locate
	}
	n, ok := b.machine.states[entry.State]
	if !ok {
		return b.machine.locate
	}
	return n.decide
}

func (b *bound[O, V, F, M, FX, E]) NeedsIn(state string) []transitions.Need {
	if n, ok := b.machine.states[state]; ok {
		return n.decide
	}
	return nil
}

func (b *bound[O, V, F, M, FX, E]) Need(name transitions.Need) Need { return b.machine.needs[name] }

func (b *bound[O, V, F, M, FX, E]) Action(state string) (ActionInfo, bool) {
	n, ok := b.machine.states[state]
	if !ok || n.Do == nil {
		return ActionInfo{}, false
	}
	again := n.Do.LookAgain
	if again <= 0 {
		again = defaultLookAgain
	}
	return ActionInfo{Name: n.Do.Name, Needs: n.act, Live: !n.Do.Before.IsZero(), LookAgain: again, Backoff: n.Backoff}, true
}

func (b *bound[O, V, F, M, FX, E]) Look(q Question[O, V]) Look[E] {
	l := &look[F, M, FX, E]{
		machine: b.machine, name: b.binding.Name, effect: b.binding.Effect,
		uid: q.UID, entry: q.Entry, asked: q.Ask.Needs, now: q.Ask.Now, scale: q.DeadlineScale,
	}
	l.facts, l.err = observe(b.binding, q)
	return l
}

// observe calls Observe and returns a panic as an error that names the lifecycle.
func observe[O, V, F, FX, E any](binding Binding[O, V, F, FX, E], q Question[O, V]) (facts F, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = defect("observing for lifecycle "+binding.Name, p)
		}
	}()
	return binding.Observe(q.Object, q.View, q.Ask), nil
}
