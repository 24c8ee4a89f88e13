// Package states says what a state of a machine is: a named position with a kind,
// a deadline and a rhythm. It is plain data, so that a graph is known without running anything.
package states

import "time"

// Kind says what a lifecycle does while it is in a state.
type Kind string

const (
	// Rest has nothing to do: everything is as the spec wants it.
	Rest Kind = "Rest"
	// Work runs an idempotent action on every pass.
	Work Kind = "Work"
	// Wait acts on nothing until the world has moved.
	Wait Kind = "Wait"
	// Hold waits for a person.
	Hold Kind = "Hold"
)

// Stance says why a Hold holds, and so what the resource's conditions say of it.
type Stance string

const (
	// Refusal is the zero stance: the change was refused. Stalled is True and Ready is False.
	Refusal Stance = ""
	// Planned is a pause that was asked for (soaking, an approval). Ready is left alone and AwaitingApproval is True.
	Planned Stance = "Planned"
	// Advice leaves Ready, Reconciling and Stalled alone: the state shows as a Warning and asks again with back-off.
	Advice Stance = "Advice"
)

// Default rhythms, used where a state leaves them out.
const (
	// DefaultPoll is how long a Work or Wait state lets pass before it looks again by itself.
	DefaultPoll = 5 * time.Second
	// DefaultBackoffMin is the first pause after a failed action.
	DefaultBackoffMin = time.Second
	// DefaultBackoffMax is the longest pause after repeated failures.
	DefaultBackoffMax = 5 * time.Minute
)

// Backoff bounds the pauses between attempts at an action that fails. It doubles from Min to Max.
type Backoff struct {
	Min, Max time.Duration
}

// After returns the pause that follows the given number of failures in a row.
//
//	failures  1    2    3    4    5     6     7     8      9      10
//	pause     1s   2s   4s   8s   16s   32s   64s   128s   256s   300s   (with the defaults)
func (b Backoff) After(failures int) time.Duration {
	least, most := b.Min, b.Max
	if least <= 0 {
		least = DefaultBackoffMin
	}
	if most <= 0 {
		most = DefaultBackoffMax
	}
	pause := least
	for i := 1; i < failures && pause < most; i++ {
		pause *= 2
	}
	return min(pause, most)
}

// State is a named position of a lifecycle.
type State struct {
	// Name is shown to people and written to status: UpperCamelCase, at most 64 characters.
	Name string
	// Kind of the state.
	Kind Kind
	// Stance of a Hold; meaningless for other kinds.
	Stance Stance
	// Doc says in one sentence what it means to be here.
	Doc string
	// Deadline after which a lifecycle that is still here shows as Stalled. It never causes a transition.
	Deadline time.Duration
	// Poll is how often a Work or Wait state looks again without being woken.
	Poll time.Duration
	// Backoff of the state's action.
	Backoff Backoff
	// Part is the fragment the state came with, such as a roll; empty for a machine's own states.
	Part string
}

// Resting says whether a lifecycle that is here has come to an end for now: at rest, or held for a person.
func (s State) Resting() bool { return s.Kind == Rest || s.Kind == Hold }
