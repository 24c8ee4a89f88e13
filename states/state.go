// Package states defines the states of a machine: named positions, each with a kind, a deadline, a poll interval and a
// back-off. States are plain data, so that a graph is known without running anything.
package states

import "time"

// Kind says what a reconcile does for a lifecycle that is in a state.
type Kind string

const (
	// Rest is the state of a lifecycle that has nothing to do: the actual state matches the desired state.
	Rest Kind = "Rest"
	// Work runs an idempotent action on every reconcile.
	Work Kind = "Work"
	// Wait runs no action. A transition is taken once its guard observes the awaited change.
	Wait Kind = "Wait"
	// Hold stops the lifecycle until a user or an admin has acted. A transition or a changed target leaves it.
	Hold Kind = "Hold"
)

// HoldReason is the reason of a Hold. It selects the conditions of the resource. Other kinds of states ignore it.
type HoldReason string

const (
	// Refusal is the default: the requested change was refused. Stalled is True and Ready is False.
	Refusal HoldReason = ""
	// Planned is a pause that the spec asked for, such as soaking or an approval. Ready keeps its value and AwaitingApproval is
	// True.
	Planned HoldReason = "Planned"
	// Advice reports a problem that needs no stop. Ready, Reconciling and Stalled keep their values, the state is shown in a
	// Warning condition, and the lifecycle is reconciled again by events, at its Poll, and at the resync interval.
	Advice HoldReason = "Advice"
)

// State is a named position of a lifecycle.
type State struct {
	// Name of the state as shown in status, events and metrics: UpperCamelCase, at most 64 characters. Required.
	Name string
	// Kind of the state. Required.
	Kind Kind
	// HoldReason is the reason of a Hold. Optional; default: Refusal. Ignored for other kinds.
	HoldReason HoldReason
	// Doc says in one sentence what a lifecycle in this state means. Required.
	Doc string
	// Deadline after which a lifecycle that is still in the state is shown as Stalled. It never causes a transition.
	Deadline time.Duration
	// Poll is the interval at which a Work, Wait or Hold state is requeued when no watch event comes first. Optional; default:
	// DefaultPoll, and for a Hold none: what leaves it is observed by events and at the resync interval.
	Poll time.Duration
	// Backoff of the state's action. Optional; default: DefaultBackoffMin to DefaultBackoffMax.
	Backoff Backoff
	// Part names the fragment that declared the state, such as a roll. Empty for states that the machine declares.
	Part string
}

// Resting reports whether the lifecycle has stopped in this state: it has nothing to do, or is held.
func (s State) Resting() bool { return s.Kind == Rest || s.Kind == Hold }
