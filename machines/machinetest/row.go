package machinetest

// Row is one line of a transition table: the persisted state, the facts, and the expected outcome. It contains no object,
// client or status.
type Row[F, D, E any] struct {
	// Name describes the case. Unique in the table. Required.
	Name string
	// Reason is why the outcome is required. It is printed when the row fails. Optional.
	Reason string

	// State is the persisted state: a declared one, one of an earlier release, Inferring, or empty for no entry.
	State string
	// Data is the persisted data; nil for none.
	Data *D
	// Coded replaces Data by encoded data, such as another release wrote.
	Coded map[string]string
	// Attempt is the target of the persisted attempt. Empty means the target of the facts, so that it has not changed.
	// NoAttempt means that there is none.
	Attempt string
	// Facts that are observed. A costly fact that is left out was not requested: reading it fails the row.
	Facts F

	// Want is the expected outcome.
	Want Want[D, E]
}

// NoAttempt as a Row's Attempt means that the entry has no attempt.
const NoAttempt = "(none)"

// Want is the expected outcome of a Row. All of it is compared: a field that is left out means that it must not happen.
type Want[D, E any] struct {
	// Event of the transition that is taken, and To, the state that it leads to. Empty: the lifecycle stays.
	Event, To string
	// Data that the transition commits; nil for none. Ignored if the lifecycle stays.
	Data *D
	// WaitingFor are the guards that status shows while the lifecycle stays, in any order. If a transition is taken, they are
	// those of the state that it leads to, and are compared only if given.
	WaitingFor []string
	// Effects of the action, in order, if the lifecycle stays in a Work state. A failed precondition is the Event precondition-failed.
	Effects []E
	// Blocked are the parts of the action's Precondition that are unknown, in any order.
	Blocked []string
}
