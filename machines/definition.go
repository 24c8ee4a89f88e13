// Package machines compiles declared states and transitions into a machine: validated as a whole, compiled once, shared by all
// objects, and evaluated by the runtime in every reconcile.
//
// A machine is declared over three types: Facts (what is observed), Data (the data that a transition computes) and Effect (what
// an action requests, as data). It uses no client, no clock and no Kubernetes type: a kind binds it to its objects with Bind.
package machines

import (
	"time"

	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Definition declares a machine. It is data: Compile validates it and returns the machine.
type Definition[F, D, E any] struct {
	// Name of the machine in kebab-case, such as version-change. Required.
	Name string
	// Doc says in one sentence what the machine is for. Required.
	Doc string
	// States in the order in which a lifecycle usually meets them. Required.
	States []State[F, D, E]
	// Transitions in the order in which their guards are evaluated: of two guards that say yes, the first wins. Required.
	Transitions []Transition[F, D]
	// Needs declares every costly fact of the machine. Optional; default: none.
	Needs []Need
	// Target computes the target of this machine from the facts. Another target is another attempt. Required.
	Target func(facts *F) Target
	// TargetNeeds are the costly facts that Target reads.
	TargetNeeds []transitions.Need
	// Infer infers the state from the facts alone. Required.
	Infer Inference[F, D]
	// Progress measures an attempt. Optional; default: no progress is shown.
	Progress Measure[F, D]
	// Data encodes the data. Optional for data of type struct{}.
	Data DataCodec[D]
	// Migrations maps states of earlier releases to current states. Optional; default: none.
	Migrations map[string]string
	// Deletion declares what is released before the object is deleted. Optional; default: nothing is, and the object is deleted at
	// once.
	Deletion Deletion
	// Records are the memories that observation cannot restore, with their homes outside status. Optional; default: none.
	Records []Record
	// HeldResources are the resources that the machine acquires and must release, however the attempt ends. Optional; default: none.
	HeldResources []HeldResource
	// MaxTransitionsWithoutProgress is the number of transitions without progress after which an attempt is Stalled. Optional;
	// default: 64.
	MaxTransitionsWithoutProgress int32
}

// State is a state with the behaviour of a machine in it.
type State[F, D, E any] struct {
	states.State
	// Invariant is the state's invariant: it says when the persisted state is still true. If it says no, the state is inferred
	// again. It must say yes or unknown on any facts on which the guard of a transition out of the state says yes. Required for
	// Work and Wait.
	Invariant transitions.Guard[F, D]
	// OnTargetChange names the state to enter when the target changes, or KeepAttempt. Required for Work, Wait and Hold.
	OnTargetChange string
	// Action is the action. It runs in every reconcile in this state, except in the one that enters it. Required for Work.
	Action *Action[F, D, E]
	// DeadlineAt replaces the fixed deadline where it depends on the facts, such as the end of a soaking time. It may read a
	// costly fact only if a guard of the state needs it too. The zero time means the fixed deadline. It is evaluated in every
	// reconcile, and its result may postpone the deadline but never bring it forward. Optional; default: Deadline.
	DeadlineAt func(facts *F, data D, entered time.Time) time.Time
	// Failure says, in words for users, why the last effect had no success whose outcome is not known before a later reconcile, such as a
	// command to an external system; empty if it had. waitingFor shows it under the name failure. It is for users only, and no fact that must
	// be requested may be read. Optional; default: nothing is shown.
	Failure func(facts *F, data D) string
	// Retains names the held resources that a Rest or Hold retains on purpose, such as a flag that stays set until an approval.
	Retains []string
}

// KeepAttempt as OnTargetChange means that a changed target has no effect before this state is left. Until then the object is not Ready for
// its generation: the state is under way, or is a Hold that does not decide upon it.
const KeepAttempt = "-"

// Action is the idempotent work of a state: a pure function from facts to effects.
type Action[F, D, E any] struct {
	// Name in kebab-case. Optional; default: the name of the state.
	Name string
	// Doc says in one sentence what the action does. Optional; default: the doc of the state.
	Doc string
	// Needs are the costly facts that Effects reads.
	Needs []transitions.Need
	// Effects returns the effects to execute now. No effects means that the work is done, and that a transition follows once its
	// guard observes the result. An action with Precondition is evaluated on the facts of the decision first, and on live facts only
	// if it returns effects: it must not wait for something that only live facts show. Required.
	Effects func(facts *F, data D) []E
	// Precondition is the precondition: it holds every permission that the path to this action depends on. It is evaluated on live
	// facts in the reconcile that executes the effects. A destructive action must have one. No takes the transition
	// precondition-failed; unknown executes nothing. Optional; default: none, and the action is not destructive.
	Precondition transitions.Guard[F, D]
	// OnPreconditionFailed names the state to enter when Precondition says no. Required with Precondition.
	OnPreconditionFailed string
	// Live evaluates Effects on live facts although there is no precondition: where children that a cache does not show yet would lead to
	// other effects. Optional; default: only an action with Precondition is evaluated on live facts.
	Live bool
	// RequeueAfter is the requeue delay after the action executed an effect. Optional; default: one second.
	RequeueAfter time.Duration
	// Records returns what the effects rely on later and observation cannot give back. The runtime writes it to the kind's records
	// and reads it back from the API server before it executes the effects. Optional; default: nothing.
	Records func(facts *F, data D) []RecordEntry
	// ResolvedBy names the costly fact that shows what the effects did if their sender did not learn it: the answer to a command was
	// lost, or its process ended. A transition out of the state must read it. Required for effects on an external system; default:
	// none, for effects on Kubernetes objects, whose writes the runtime repeats.
	ResolvedBy transitions.Need
	// NeedsFinalizer means that the effects leave something that must be released when the object is deleted: the finalizer is on
	// the object before they are executed. Requires Definition.Deletion.
	NeedsFinalizer bool
	// Acquires names the held resources that the action may acquire. Another state's action gives them back; the guard of a
	// transition observes that, and the transition Releases them.
	Acquires []string
}

// Transition is an edge: a row of the machine's table.
type Transition[F, D any] struct {
	// Event names the transition in kebab-case, unique among the transitions of its From. Required.
	Event string
	// From and To are declared states. Required.
	From, To string
	// When is the guard. Required unless Choose is set.
	When transitions.Guard[F, D]
	// Choose is a guard that also returns the data, so that the guard and the choice cannot disagree.
	Choose *Choice[F, D]
	// NewAttempt starts an attempt towards the current target. Data, progress and approvals of the previous attempt end.
	NewAttempt bool
	// OneWay marks a transition whose effects cannot be undone. The action of its To must have a Precondition.
	OneWay bool
	// Awaited shows the guard in waitingFor while it does not say yes.
	Awaited bool
	// EvenIfUnknown evaluates this transition although the guard of an earlier one is unknown: to refuse, to hold, to abort.
	EvenIfUnknown bool
	// ClearData drops the data.
	ClearData bool
	// Outranks declares that the transition wins over later ones of its state whose guards say yes as well.
	Outranks bool
	// Releases names the held resources that are released, or were never acquired, whenever the guard says yes.
	Releases []string
	// Quiet means that the transition creates no event: a step that matters to no user because the next one follows. The history, the log
	// and the metrics show it. A transition that cannot be undone, or that enters a Hold, is never quiet.
	Quiet bool
	// Doc says in one sentence why the lifecycle takes the transition. Optional; default: the doc of the guard. Required for a
	// guard that is combined of others.
	Doc string
}

// Choice is a guard that also computes the data.
type Choice[F, D any] struct {
	// Guard describes the choice. Its Evaluate must be nil, because Pick answers. It is a leaf, never All, Any or Not.
	Guard transitions.Guard[F, D]
	// Pick returns the verdict and, if it is yes, the data to commit with the state. Required.
	Pick func(facts *F, data D) (transitions.Verdict, D)
}

// Need declares a costly fact.
type Need struct {
	Name transitions.Need
	// Doc says what is requested from which system. Required.
	Doc string
	// MaxAge is the age from which an observation counts as unreadable. Optional; default: 30 seconds. At Rest and
	// in a Hold the resync interval applies.
	MaxAge time.Duration
}

// Target is the target that the facts request.
type Target struct {
	// From is the starting point of an attempt that starts now. It is only shown.
	From string
	// To is the target. Two different texts are two different attempts.
	To string
	// Unknown means that the facts do not contain the target.
	Unknown bool
}

// Inference infers the state from the facts alone: when no state is persisted, or when the facts contradict the persisted one.
type Inference[F, D any] struct {
	Needs []transitions.Need
	// States that Find may return: the roots of the graph. Required.
	States []string
	// Sees names the held resources that Find observes: it returns a state that does not keep one only if it is not held.
	Sees []string
	// Find returns the state and its data. A verdict other than yes leads to the built-in state Inferring. Required.
	Find func(facts *F) (InferredState[D], transitions.Verdict)
}

// InferredState is the state that the facts show.
type InferredState[D any] struct {
	State string
	Data  D
}

// Measure counts the progress of an attempt.
type Measure[F, D any] struct {
	Needs []transitions.Need
	// Unit that is counted, in the singular, at most 32 characters.
	Unit string
	// Of counts. A total of zero means that there is nothing to count.
	Of func(facts *F, data D) Count
}

// Count is the progress of an attempt.
type Count struct {
	Done, Total int
	// Unknown keeps the previous count: a fact that the count depends on is not known.
	Unknown bool
	// Current is the unit that is being worked on.
	Current string
}

// DataCodec encodes data as at most 8 entries of at most 64 characters.
type DataCodec[D any] struct {
	Encode func(D) map[string]string
	// Decode fails on a map that Encode cannot return; the state is then inferred again. A nil map decodes to the zero value,
	// because most transitions commit no data.
	Decode func(map[string]string) (D, error)
}

// HeldResource is a resource that a machine acquires for a time: a cordon, a flag, a worker that it froze. The disruption lock is
// none, because the runtime releases it by observation. Package verification checks that a held resource is released on every
// path of the declared graph, including inferred, precondition-failed and target-changed edges.
type HeldResource struct {
	// Name in kebab-case. Required.
	Name string
	// Doc says what is held, and what it costs while it is held. Required.
	Doc string
}

// Events and states that every machine has without declaring them.
const (
	// Inferring is the Wait state until the facts that Infer needs can be read. It has no action.
	Inferring = "Inferring"

	// EventInferred leads from any state to the state that the facts show.
	EventInferred = "inferred"
	// EventMigrated leads from a state of an earlier release to its current state.
	EventMigrated = "migrated"
	// EventTargetChanged leads to a state's OnTargetChange.
	EventTargetChanged = "target-changed"
	// EventPreconditionFailed leads to an action's OnPreconditionFailed.
	EventPreconditionFailed = "precondition-failed"
	// EventDeletionRequested leads from any state to Deletion.To when the object is being deleted.
	EventDeletionRequested = "deletion-requested"
)
