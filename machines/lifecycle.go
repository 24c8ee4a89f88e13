package machines

import (
	"slices"
	"time"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Lifecycle is a machine bound to a kind of object: O is the object, S the snapshot that the kind observes once per reconcile
// (plain values), E the kind's effects. Make it with Bind.
type Lifecycle[O, S, E any] struct {
	evaluator Evaluator[O, S, E]
}

// Graphs returns the graphs of the machines of lifecycles, in order.
func Graphs[O, S, E any](all []Lifecycle[O, S, E]) []Graph {
	out := make([]Graph, len(all))
	for i := range all {
		out[i] = all[i].Graph()
	}
	return out
}

// GraphsByLifecycle returns the graphs of the machines by the names of their lifecycles.
func GraphsByLifecycle[O, S, E any](all []Lifecycle[O, S, E]) map[string]Graph {
	out := make(map[string]Graph, len(all))
	for i := range all {
		out[all[i].Name()] = all[i].Graph()
	}
	return out
}

// Name of the lifecycle, the key in status.lifecycles.
func (l Lifecycle[O, S, E]) Name() string { return l.evaluator.Name() }

// Graph of its machine.
func (l Lifecycle[O, S, E]) Graph() Graph { return l.evaluator.Graph() }

// Evaluator is for the runtime, the exploration and the tests of this module.
func (l Lifecycle[O, S, E]) Evaluator(access.Key) Evaluator[O, S, E] { return l.evaluator }

// LifecycleOf returns a lifecycle with another evaluator, for the exploration and the tests of this module.
func LifecycleOf[O, S, E any](_ access.Key, evaluator Evaluator[O, S, E]) Lifecycle[O, S, E] {
	return Lifecycle[O, S, E]{evaluator}
}

// Evaluator evaluates a lifecycle. It is pure: all its inputs are arguments, and it has no side effects. Only packages of this
// module can have one; its methods change without notice.
type Evaluator[O, S, E any] interface {
	// Name of the lifecycle, the key in status.lifecycles.
	Name() string
	// Graph of its machine.
	Graph() Graph
	// MaxTransitionsWithoutProgress is the number of transitions without progress after which an attempt is Stalled.
	MaxTransitionsWithoutProgress() int32
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
	// Several reports that the lifecycle has several instances. Only Instance returns an evaluator that evaluates one of them.
	Several() bool
	// MaxInstances is the number of entries that the lifecycle may have on an object: 1 unless Several.
	MaxInstances() int
	// Instances returns the sorted names of the declared instances, and whether the list is complete. The error names what cannot
	// be managed.
	Instances(object O, snapshot S) (names []string, known bool, err error)
	// Existing returns the sorted names of the instances of which the snapshot shows something outside the status, and whether the list is
	// complete. The error is a defect of the kind.
	Existing(object O, snapshot S) (names []string, known bool, err error)
	// Unlisted says in words for users why Instances or Existing does not know the names; empty if no reason is declared.
	Unlisted(object O, snapshot S) string
	// Instance returns the evaluator of one instance. Its Name is the instance's entry name.
	Instance(name string) Evaluator[O, S, E]
	// Evaluate reads the facts from the snapshot, once.
	Evaluate(q EvaluationInput[O, S]) Evaluation[E]
}

// ActionInfo describes an action before it is evaluated.
type ActionInfo struct {
	Name string
	// Needs of the action and of its Precondition.
	Needs []transitions.Need
	// Live requires a live snapshot: the action is destructive, or asks for it.
	Live bool
	// NeedsFinalizer means that the finalizer must be on the object before the effects are executed.
	NeedsFinalizer bool
	// Records means that the action has records, which the kind must keep.
	Records bool
	// RequeueAfter is the requeue delay after the action executed an effect.
	RequeueAfter time.Duration
	Backoff      states.Backoff
}

// EvaluationInput is the complete input of one evaluation of a lifecycle.
type EvaluationInput[O, S any] struct {
	Object   O
	Snapshot S
	// UID and Generation of the object.
	UID        string
	Generation int64
	// Entry is the persisted state, or nil. It is never modified.
	Entry   *lifecyclev1.Lifecycle
	Options ObserveOptions
	// Deleting means that the object is being deleted and has the runtime's finalizer, or that the instance is not declared any
	// more.
	Deleting bool
	// DeadlineScale multiplies every declared deadline. 0 means 1.
	DeadlineScale float64
}

// ObserveOptions says what an observation is for.
type ObserveOptions struct {
	// Needs are the costly facts that are requested. All other costly facts stay zero.
	Needs []transitions.Need
	// Live requires facts that are read from their source in this reconcile.
	Live bool
	// Now is the time of the reconcile: a fact like any other.
	Now time.Time
	// RequestID identifies the requests of this entry to external systems.
	RequestID RequestID
	// Instance is the name of the instance, for a lifecycle with several.
	Instance string
	// Attempt in progress according to the persisted state, and when its state was entered. They may name things (an approval,
	// a soaking time); the actual state is observed.
	Attempt   *lifecyclev1.Attempt
	EnteredAt time.Time
}

// Wants reports whether the need is requested.
func (a ObserveOptions) Wants(need transitions.Need) bool { return slices.Contains(a.Needs, need) }

// RequestID identifies a request to an external system. An answer belongs to one visit of one state.
type RequestID struct {
	// Lifecycle is the name of the entry: see EntryName.
	UID, Lifecycle, Attempt, State string
	// Sequence increases with each visit of the state within the attempt.
	Sequence int64
}

// RequestIDOf returns the request ID of the entry.
func RequestIDOf(uid, lifecycle string, entry *lifecyclev1.Lifecycle) RequestID {
	t := RequestID{UID: uid, Lifecycle: lifecycle}
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

// Evaluation is the evaluation of one lifecycle on the facts of one snapshot.
type Evaluation[E any] interface {
	// Decide returns the transition to take, if any.
	Decide() Decision
	// Enter returns the entry after the move, with what its state waits for. The facts must include NeedsIn of the target
	// state. It fails on a move that the graph does not contain.
	Enter(Move) (lifecyclev1.Lifecycle, error)
	// Project returns the entry with the current waitingFor and progress. State, attempt and history stay.
	Project() lifecyclev1.Lifecycle
	// Problems returns the reasons of the problems in the entry's current waitingFor, without duplicates.
	Problems() []transitions.Reason
	// Open returns the events of the transitions out of the entry's state whose guards say yes, in order of declaration,
	// starting with the one that Decide takes. Several events are an overlap that the order decides; tests report it.
	Open() []string
	// Idle reports that the state's action returns no effects, and that the facts contain everything that it reads. Only for a
	// state with an action.
	Idle() bool
	// Act evaluates the state's action: on a live snapshot if the action requires one.
	Act() ActionResult[E]
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
	// Released means that the object is being deleted and that the lifecycle has nothing left to release.
	Released bool
	// Silent means that there is no entry and that the first answers are still pending.
	Silent bool
	// Needs are facts that are required to infer the state and that were not requested, because the persisted state was
	// expected to be true: observe again with them and evaluate again.
	Needs []transitions.Need
	// Shadowed is the transition that a wrong invariant prevents: its guard says yes where Invariant says no. The machine reaches
	// the state all the same by inference, so that the defect would go unnoticed.
	Shadowed string
	// Err is a defect of the machine (an undeclared read, a panic). It names the guard.
	Err error
}

// Move is a transition to take.
type Move struct {
	Event, From, To string
	Data            map[string]string
	// Attempt that the entry will carry; nil for none.
	Attempt *lifecyclev1.Attempt
	OneWay  bool
	// Quiet means that no event reports the move.
	Quiet bool
}

// ActionResult is the result of evaluating an action.
type ActionResult[E any] struct {
	Effects []E
	// Records must be stored before the effects are executed.
	Records []RecordEntry
	// PreconditionFailed is the transition to take because Precondition said no.
	PreconditionFailed *Move
	// Blocked are the parts of Precondition that do not say yes.
	Blocked []transitions.Blocker
	Err     error
}
