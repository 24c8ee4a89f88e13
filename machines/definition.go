// Package machines turns declared states and transitions into a machine: checked as a whole, compiled once,
// shared by all objects, and asked by the runtime on every pass.
//
// A machine is declared over three types of its own: Facts (what is observed), Memo (what a transition chose)
// and Effect (what an action wants done, as data). It touches no client, no clock and no Kubernetes type:
// a kind binds it to its objects with Bind.
package machines

import (
	"time"

	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Definition declares a machine. It is data; Compile checks it and makes it usable.
type Definition[F, M, E any] struct {
	// Name of the machine in kebab-case, such as kafka-version-change.
	Name string
	// Doc says in one sentence what the machine is for.
	Doc string
	// States in the order a person meets them.
	States []State[F, M, E]
	// Transitions in the order they are asked: of two guards that say yes, the first wins.
	Transitions []Transition[F, M]
	// Needs declares every costly fact of the machine.
	Needs []Need
	// Target says what the facts want of this machine. Another target is another attempt.
	Target Target[F]
	// Locate finds the state from the facts alone.
	Locate Locator[F, M]
	// Progress counts what an attempt has done; optional.
	Progress Measure[F, M]
	// Memo codes the memo; leave it zero for a memo that holds nothing.
	Memo MemoCodec[M]
	// Migrations maps states of earlier releases to today's.
	Migrations map[string]string
	// Records are the memories that observation cannot give back, with their homes outside status.
	Records []Record
	// Holdings are what the machine takes for a while and owes back, whatever becomes of the attempt.
	Holdings []Holding
	// MaxEdges is how many transitions an attempt may take without progress before it is Stalled. Default 64.
	MaxEdges int32
}

// State is a state with what a machine does in it.
type State[F, M, E any] struct {
	states.State
	// While says when the bookmark is still true. No means that the state is located anew.
	// It must be yes or unknown in any facts in which an exit guard says yes. Demanded of Work and Wait.
	While transitions.Guard[F, M]
	// OnTarget names the state that a changed target leads to, or CarryOn. Demanded of Work, Wait and Hold.
	OnTarget string
	// Do is the action, run on every pass in this state except the one that entered it. Demanded of Work.
	Do *Action[F, M, E]
	// DeadlineAt replaces the fixed deadline where it depends on the facts (soaking, a snapshot that is due). It reads costly
	// facts only if a guard of the state needs them too. The zero time leaves the fixed deadline. It is asked on every pass, and
	// what it says may postpone the deadline, never bring it nearer.
	DeadlineAt func(facts *F, memo M, entered time.Time) time.Time
	// Keeps names the holdings that a Rest or Hold keeps on purpose, such as a flag that stays set while a person is asked.
	Keeps []string
}

// CarryOn as OnTarget means that a changed target is looked at only after this state was left.
const CarryOn = "-"

// Action is the idempotent work of a state: a pure function from facts to effects.
type Action[F, M, E any] struct {
	// Name in kebab-case.
	Name string
	// Doc says in one sentence what it does.
	Doc string
	// Needs are the costly facts that Do reads.
	Needs []transitions.Need
	// Do returns what is to be done now; nothing means that all is done and the world must move. An action with a Before is asked
	// on the facts of the decision first, and on live ones only if it wants something of those: what only a live look can tell
	// must not be what it waits for.
	Do func(facts *F, memo M) []E
	// Before holds every permission given on the path to this action, asked on live facts in the same pass, whenever Do wants
	// something. A destructive action has one. No takes the edge turned-back; unknown waits.
	Before transitions.Guard[F, M]
	// TurnBack is the state that turned-back leads to.
	TurnBack string
	// LookAgain is how soon the state looks at the world after the action did something. Default one second.
	LookAgain time.Duration
	// Acquires names the holdings that the action may take. What gives them back is an action of another state; that it is done
	// is seen by the guard of an edge, which Releases it.
	Acquires []string
}

// Transition is an edge: a row of the machine's table.
type Transition[F, M any] struct {
	// Event names the edge in kebab-case, unique among the edges of its From.
	Event string
	// From and To are states.
	From, To string
	// When is the guard. Leave it out where Choose decides.
	When transitions.Guard[F, M]
	// Choose answers and picks the memo at once, so that the guard and the choice cannot disagree.
	Choose *Choice[F, M]
	// NewAttempt begins an attempt towards today's target; memo, progress and approvals of the old one end.
	NewAttempt bool
	// OneWay marks an edge whose effects cannot be undone.
	OneWay bool
	// Awaited shows the guard in waitingFor while it does not say yes.
	Awaited bool
	// EvenIfUnknown asks this edge although the guard of an earlier one is unknown: refuse, hold, turn back.
	EvenIfUnknown bool
	// Forget drops the memo.
	Forget bool
	// Outranks says that the edge is meant to win over later edges of its state that say yes as well.
	Outranks bool
	// Releases names the holdings that are given back, or were never taken, wherever the guard says yes.
	Releases []string
	// Doc says in one sentence why the lifecycle moves.
	Doc string
}

// Choice is a guard that also picks the memo.
type Choice[F, M any] struct {
	// Guard's Ask must be nil: Pick answers in its place. It is a leaf, never All, Any or Not.
	Guard transitions.Guard[F, M]
	// Pick answers and, when it says yes, gives the memo to commit with the state.
	Pick func(facts *F, memo M) (transitions.Verdict, M)
}

// Need declares a costly fact.
type Need struct {
	Name transitions.Need
	// Doc says what is asked of whom.
	Doc string
	// MaxAge after which an observation is as good as unreadable. Default 30 seconds; at Rest the resync interval.
	MaxAge time.Duration
}

// Target says what the facts want.
type Target[F any] struct {
	Needs []transitions.Need
	// Of returns the target in the machine's own terms.
	Of func(facts *F) Aim
}

// Aim is a target as seen in the facts.
type Aim struct {
	// From is where an attempt that starts now starts; only shown.
	From string
	// To is the target. Two different texts are two different attempts.
	To string
	// Unknown means that the facts do not say.
	Unknown bool
}

// Locator finds the state from the facts alone: when there is no bookmark, or a wrong one.
type Locator[F, M any] struct {
	Needs []transitions.Need
	// States that Find may return: the roots of the graph.
	States []string
	// Sees names the holdings that Find looks for: it finds a state that does not keep one only where it is not held.
	Sees []string
	// Find returns the state and memo. A verdict that is not yes leads to the built-in state Locating.
	Find func(facts *F) (Place[M], transitions.Verdict)
}

// Place is where the facts say that a lifecycle stands.
type Place[M any] struct {
	State string
	Memo  M
}

// Measure counts what an attempt has done.
type Measure[F, M any] struct {
	Needs []transitions.Need
	// Unit that is counted, in the singular.
	Unit string
	// Of counts. A total of zero means that there is nothing to count.
	Of func(facts *F, memo M) Count
}

// Count of an attempt's progress.
type Count struct {
	Done, Total int
	// Unknown keeps what was counted before: a fact that the count rests on is not known.
	Unknown bool
	// Current is the unit in hand.
	Current string
}

// MemoCodec codes a memo as at most 8 entries of at most 64 characters.
type MemoCodec[M any] struct {
	Encode func(M) map[string]string
	// Decode fails on what it did not encode; the state is then located anew. Nothing decodes to the zero memo, since
	// most edges commit no memo.
	Decode func(map[string]string) (M, error)
}

// Record is a memory outside status.
type Record struct {
	Name string
	// Home says where it lives.
	Home string
	Doc  string
}

// Holding is what a machine takes for a while: a cordon, a flag, a worker that it froze. The disruption slot is none: the runtime
// gives it back by what it sees. That a holding is released on every path is verified over the declared graph, located, turned-back
// and target-changed edges included (package verification).
type Holding struct {
	// Name in kebab-case.
	Name string
	// Doc says what is held, and what it costs while it is.
	Doc string
}

// Events and states that every machine has without declaring them.
const (
	// Locating waits until the facts that Locate needs can be read. It acts on nothing.
	Locating = "Locating"

	// EventLocated leads from anywhere to the state that the facts name.
	EventLocated = "located"
	// EventMigrated leads from a state of an earlier release to today's.
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
