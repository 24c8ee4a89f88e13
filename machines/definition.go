// Package machines compiles declared states and transitions into a machine: validated as a whole, compiled once, shared by all
// objects, and evaluated by the runtime in every reconcile.
//
// A machine is declared over three types: Facts (what is observed), Memo (the data that a transition computes) and Effect (what
// an action requests, as data). It uses no client, no clock and no Kubernetes type: a kind binds it to its objects with Bind.
package machines

import (
	"time"

	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Definition declares a machine. It is data: Compile validates it and returns the machine.
type Definition[F, M, E any] struct {
	// Name of the machine in kebab-case, such as kafka-version-change. Required.
	Name string
	// Doc says in one sentence what the machine is for. Required.
	Doc string
	// States in the order in which a lifecycle usually meets them. Required.
	States []State[F, M, E]
	// Transitions in the order in which their guards are evaluated: of two guards that say yes, the first wins. Required.
	Transitions []Transition[F, M]
	// Needs declares every costly fact of the machine. Optional; default: none.
	Needs []Need
	// Target computes the target of this machine from the facts. Another target is another attempt. Required.
	Target Target[F]
	// Locate infers the state from the facts alone. Required.
	Locate Locator[F, M]
	// Progress measures an attempt. Optional; default: no progress is shown.
	Progress Measure[F, M]
	// Memo encodes the data. Optional for data of type struct{}.
	Memo MemoCodec[M]
	// Migrations maps states of earlier releases to current states. Optional; default: none.
	Migrations map[string]string
	// Records are the memories that observation cannot restore, with their homes outside status. Optional; default: none.
	Records []Record
	// Holdings are the resources that the machine acquires and must release, however the attempt ends. Optional; default: none.
	Holdings []Holding
	// MaxEdges is the number of transitions without progress after which an attempt is Stalled. Optional; default: 64.
	MaxEdges int32
}

// State is a state with the behaviour of a machine in it.
type State[F, M, E any] struct {
	states.State
	// While is the state's invariant: it says when the persisted state is still true. If it says no, the state is inferred
	// again. It must say yes or unknown on any facts on which the guard of a transition out of the state says yes. Required for
	// Work and Wait.
	While transitions.Guard[F, M]
	// OnTarget names the state to enter when the target changes, or CarryOn. Required for Work, Wait and Hold.
	OnTarget string
	// Do is the action. It runs in every reconcile in this state, except in the one that enters it. Required for Work.
	Do *Action[F, M, E]
	// DeadlineAt replaces the fixed deadline where it depends on the facts, such as the end of a soaking time. It may read a
	// costly fact only if a guard of the state needs it too. The zero time means the fixed deadline. It is evaluated in every
	// reconcile, and its result may postpone the deadline but never bring it forward. Optional; default: Deadline.
	DeadlineAt func(facts *F, memo M, entered time.Time) time.Time
	// Keeps names the held resources that a Rest or Hold retains on purpose, such as a flag that stays set until an approval.
	Keeps []string
}

// CarryOn as OnTarget means that a changed target has no effect before this state is left.
const CarryOn = "-"

// Action is the idempotent work of a state: a pure function from facts to effects.
type Action[F, M, E any] struct {
	// Name in kebab-case. Required.
	Name string
	// Doc says in one sentence what the action does. Required.
	Doc string
	// Needs are the costly facts that Do reads.
	Needs []transitions.Need
	// Do returns the effects to execute now. No effects means that the work is done, and that a transition follows once its
	// guard observes the result. An action with Before is evaluated on the facts of the decision first, and on live facts only
	// if it returns effects: it must not wait for something that only live facts show. Required.
	Do func(facts *F, memo M) []E
	// Before is the precondition: it holds every permission that the path to this action depends on. It is evaluated on live
	// facts in the reconcile that executes the effects. A destructive action must have one. No takes the transition
	// turned-back; unknown executes nothing. Optional; default: none, and the action is not destructive.
	Before transitions.Guard[F, M]
	// TurnBack names the state to enter when Before says no. Required with Before.
	TurnBack string
	// LookAgain is the requeue delay after the action executed an effect. Optional; default: one second.
	LookAgain time.Duration
	// Acquires names the held resources that the action may acquire. Another state's action gives them back; the guard of a
	// transition observes that, and the transition Releases them.
	Acquires []string
}

// Transition is an edge: a row of the machine's table.
type Transition[F, M any] struct {
	// Event names the transition in kebab-case, unique among the transitions of its From. Required.
	Event string
	// From and To are declared states. Required.
	From, To string
	// When is the guard. Required unless Choose is set.
	When transitions.Guard[F, M]
	// Choose is a guard that also returns the data, so that the guard and the choice cannot disagree.
	Choose *Choice[F, M]
	// NewAttempt starts an attempt towards the current target. Data, progress and approvals of the previous attempt end.
	NewAttempt bool
	// OneWay marks a transition whose effects cannot be undone. The action of its To must have Before.
	OneWay bool
	// Awaited shows the guard in waitingFor while it does not say yes.
	Awaited bool
	// EvenIfUnknown evaluates this transition although the guard of an earlier one is unknown: to refuse, to hold, to abort.
	EvenIfUnknown bool
	// Forget drops the data.
	Forget bool
	// Outranks declares that the transition wins over later ones of its state whose guards say yes as well.
	Outranks bool
	// Releases names the held resources that are released, or were never acquired, whenever the guard says yes.
	Releases []string
	// Doc says in one sentence why the lifecycle takes the transition. Required.
	Doc string
}

// Choice is a guard that also computes the data.
type Choice[F, M any] struct {
	// Guard describes the choice. Its Ask must be nil, because Pick answers. It is a leaf, never All, Any or Not.
	Guard transitions.Guard[F, M]
	// Pick returns the verdict and, if it is yes, the data to commit with the state. Required.
	Pick func(facts *F, memo M) (transitions.Verdict, M)
}

// Need declares a costly fact.
type Need struct {
	Name transitions.Need
	// Doc says what is requested from which system. Required.
	Doc string
	// MaxAge is the age from which an observation counts as unreadable. Optional; default: 30 seconds. At Rest the resync
	// interval applies.
	MaxAge time.Duration
}

// Target computes what the facts request.
type Target[F any] struct {
	Needs []transitions.Need
	// Of returns the target in the machine's terms. Required.
	Of func(facts *F) Aim
}

// Aim is the target that the facts request.
type Aim struct {
	// From is the starting point of an attempt that starts now. It is only shown.
	From string
	// To is the target. Two different texts are two different attempts.
	To string
	// Unknown means that the facts do not contain the target.
	Unknown bool
}

// Locator infers the state from the facts alone: when no state is persisted, or when the facts contradict the persisted one.
type Locator[F, M any] struct {
	Needs []transitions.Need
	// States that Find may return: the roots of the graph. Required.
	States []string
	// Sees names the held resources that Find observes: it returns a state that does not keep one only if it is not held.
	Sees []string
	// Find returns the state and its data. A verdict other than yes leads to the built-in state Locating. Required.
	Find func(facts *F) (Place[M], transitions.Verdict)
}

// Place is the state that the facts show.
type Place[M any] struct {
	State string
	Memo  M
}

// Measure counts the progress of an attempt.
type Measure[F, M any] struct {
	Needs []transitions.Need
	// Unit that is counted, in the singular, at most 32 characters.
	Unit string
	// Of counts. A total of zero means that there is nothing to count.
	Of func(facts *F, memo M) Count
}

// Count is the progress of an attempt.
type Count struct {
	Done, Total int
	// Unknown keeps the previous count: a fact that the count depends on is not known.
	Unknown bool
	// Current is the unit that is being worked on.
	Current string
}

// MemoCodec encodes data as at most 8 entries of at most 64 characters.
type MemoCodec[M any] struct {
	Encode func(M) map[string]string
	// Decode fails on a map that Encode cannot return; the state is then inferred again. A nil map decodes to the zero value,
	// because most transitions commit no data.
	Decode func(map[string]string) (M, error)
}

// Record is a memory outside status.
type Record struct {
	Name string
	// Home names the object and the field that contain the record.
	Home string
	Doc  string
}

// Holding is a resource that a machine acquires for a time: a cordon, a flag, a worker that it froze. The disruption lock is
// none, because the runtime releases it by observation. Package verification checks that a held resource is released on every
// path of the declared graph, including inferred, turned-back and target-changed edges.
type Holding struct {
	// Name in kebab-case. Required.
	Name string
	// Doc says what is held, and what it costs while it is held. Required.
	Doc string
}

// Events and states that every machine has without declaring them.
const (
	// Locating is the Wait state until the facts that Locate needs can be read. It has no action.
	Locating = "Locating"

	// EventLocated leads from any state to the state that the facts show.
	EventLocated = "located"
	// EventMigrated leads from a state of an earlier release to its current state.
	EventMigrated = "migrated"
	// EventTargetChanged leads to a state's OnTarget.
	EventTargetChanged = "target-changed"
	// EventTurnedBack leads to an action's TurnBack.
	EventTurnedBack = "turned-back"
)

const (
	locatingDeadline = 10 * time.Minute
	defaultMaxAge    = 30 * time.Second
	defaultMaxEdges  = 64
	defaultLookAgain = time.Second
)
