package machines

import (
	"slices"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Lifecycle is a machine bound to a kind of object: what the runtime, the plan and the exploration drive.
//
// O is the object, V the view of the world that the kind takes once per pass (plain values), E the kind's effects.
// A Lifecycle is pure: it is told everything and touches nothing.
type Lifecycle[O, V, E any] interface {
	// Name of the lifecycle, the key in status.lifecycles.
	Name() string
	// Graph of its machine.
	Graph() Graph
	// MaxEdges is how many transitions without progress an attempt may take before it is Stalled.
	MaxEdges() int32
	// State returns the declared state of that name.
	State(name string) (states.State, bool)
	// Needs are the costly facts that deciding needs where the entry stands; nil stands for no entry.
	Needs(entry *lifecyclev1.Lifecycle) []transitions.Need
	// NeedsIn are the costly facts that being in the state shows to a person.
	NeedsIn(state string) []transitions.Need
	// Action describes what the state does; ok is false for a state that acts on nothing.
	Action(state string) (action ActionInfo, ok bool)
	// Need returns the declaration of a costly fact.
	Need(name transitions.Need) Need
	// Look takes the facts from the view, once.
	Look(q Question[O, V]) Look[E]
}

// ActionInfo is what the runtime must know of an action before it asks for it.
type ActionInfo struct {
	Name string
	// Needs of the action and of its Before.
	Needs []transitions.Need
	// Live demands a live view: the action is destructive.
	Live bool
	// LookAgain is when to look at the world after the action did something.
	LookAgain time.Duration
	Backoff   states.Backoff
}

// Question is everything a lifecycle is told in one look.
type Question[O, V any] struct {
	Object O
	View   V
	// UID and Generation of the object.
	UID        string
	Generation int64
	// Entry is the bookmark, or nil. It is never changed.
	Entry *lifecyclev1.Lifecycle
	Ask   Ask
	// DeadlineScale stretches every declared deadline; 0 means 1.
	DeadlineScale float64
}

// Ask says what an observation is wanted for.
type Ask struct {
	// Needs are the costly facts that are wanted. All others stay unasked.
	Needs []transitions.Need
	// Live demands facts read in this pass from their source.
	Live bool
	// Now is the time of the pass: a fact like any other.
	Now time.Time
	// Ticket numbers the external writes of this entry.
	Ticket Ticket
	// Attempt under way, as far as the bookmark tells, and when its state was entered. They may name things (an approval, a
	// soaking time); what is true of the world comes from the world.
	Attempt   *lifecyclev1.Attempt
	EnteredAt time.Time
}

// For says whether the need is wanted.
func (a Ask) For(need transitions.Need) bool { return slices.Contains(a.Needs, need) }

// Ticket numbers a request to an external system: its answer belongs to this visit of this state and to no other.
type Ticket struct {
	UID, Lifecycle, Attempt, State string
	// Sequence grows with each visit of the state within the attempt.
	Sequence int64
}

// TicketOf the entry.
func TicketOf(uid, lifecycle string, entry *lifecyclev1.Lifecycle) Ticket {
	t := Ticket{UID: uid, Lifecycle: lifecycle}
	if entry != nil {
		t.State = entry.State
		// Nothing else grows with every visit: clocks are set back and tell seconds only, Edges starts again at zero when
		// progress is made, and the history forgets its first transitions.
		t.Sequence = int64(entry.Transitions)
		if entry.Attempt != nil {
			t.Attempt = entry.Attempt.ID
		}
	}
	return t
}

// Look is one lifecycle with the facts of one view.
type Look[E any] interface {
	// Decide says where the lifecycle goes, if anywhere.
	Decide() Decision
	// Enter is the entry after the move, with what its state waits for. Its facts must include NeedsIn of the target.
	// It fails on a move that the graph does not have.
	Enter(Move) (lifecyclev1.Lifecycle, error)
	// Project is the entry as a person should see it now: waitingFor and progress. State, attempt and history stay.
	Project() lifecyclev1.Lifecycle
	// Open are the events of the edges out of the bookmark's state whose guards say yes, in the order in which they are declared,
	// from the one that Decide takes. More than one is an overlap that the order decides: for tests that want to tell of it.
	Open() []string
	// Idle says that the state's action wants nothing done, and that these facts hold all that it reads. Of a state that acts.
	Idle() bool
	// Act says what the state's action wants done. On a live view if the action demands one.
	Act() Acting[E]
	// Facts points to what the look was decided upon, for a journal. They are never changed.
	Facts() any
}

// Decision is where a lifecycle goes.
type Decision struct {
	// Move to take, or nil.
	Move *Move
	// MayAct says that the bookmark is true, so that the state's action may run.
	MayAct bool
	// Decided says that the lifecycle has judged the object's generation: it knows the target and stays with it.
	// At Rest and in a Hold no guard that was asked may be unknown, else a change could go unseen while all looks settled.
	Decided bool
	// Silent says that there is no entry and nothing can be said yet: the first answers are still pending.
	Silent bool
	// Needs are facts that finding the state anew takes and that were not asked for, since the bookmark was thought to be
	// true: look again with them and decide anew.
	Needs []transitions.Need
	// Shadowed is the exit that a wrong bookmark keeps from being taken: its guard says yes where While says no. A machine whose
	// While does so goes round by finding its state anew, and arrives all the same, so that nobody would notice.
	Shadowed string
	// Err is a defect of the machine (an undeclared read, a panic), naming the guard.
	Err error
}

// Move is an edge to take.
type Move struct {
	Event, From, To string
	Memo            map[string]string
	// Attempt that the entry will carry; nil for none.
	Attempt *lifecyclev1.Attempt
	OneWay  bool
}

// Acting is what an action wants.
type Acting[E any] struct {
	Effects []E
	// TurnBack is the edge to take because Before said no.
	TurnBack *Move
	// Blocked are the guards of Before that are unknown.
	Blocked []transitions.Blocker
	Err     error
}

// Binding ties a machine to a kind.
type Binding[O, V, F, FX, E any] struct {
	// Name of the lifecycle.
	Name string
	// Observe takes the facts from the view: a pure function. Costly facts that ask does not want stay zero.
	Observe func(object O, view V, ask Ask) F
	// Effect turns the machine's effect into the kind's.
	Effect func(FX) E
}

// Bind makes a Lifecycle of a compiled machine.
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

// observe turns a panic of the kind's observation into an error that names the lifecycle.
func observe[O, V, F, FX, E any](binding Binding[O, V, F, FX, E], q Question[O, V]) (facts F, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = defect("observing for lifecycle "+binding.Name, p)
		}
	}()
	return binding.Observe(q.Object, q.View, q.Ask), nil
}
