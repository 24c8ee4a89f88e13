package machinetest

// Row is one line of a transition table: what is stored, what is seen, and what follows. It knows facts only: no object,
// no client, no status.
type Row[F, M, E any] struct {
	// Name tells the story of the row; unique in the table.
	Name string
	// Reason is printed when the row fails: why it must be so.
	Reason string

	// State that the bookmark names: a declared one, one of an earlier release, Locating, or empty for no bookmark.
	State string
	// Memo of the bookmark; nil if none was committed with it.
	Memo *M
	// Coded replaces Memo by what another release might have written.
	Coded map[string]string
	// Attempt is the target of the bookmark's attempt. Empty: the target that the facts have, so that nothing changed.
	// NoAttempt: there is none.
	Attempt string
	// Facts that are seen. Costly facts that are left out were not asked for: reading one fails the row.
	Facts F

	// Want is what follows.
	Want Want[M, E]
}

// NoAttempt as a Row's Attempt means that the bookmark carries none.
const NoAttempt = "(none)"

// Want is what follows from a Row. All of it is compared: what is left out must not happen.
type Want[M, E any] struct {
	// Event of the edge that is taken, and To, the state it leads to. Empty: the lifecycle stays where it is.
	Event, To string
	// Memo that the edge commits; nil for none. Meaningless for a lifecycle that stays.
	Memo *M
	// WaitingFor are the guards that a person is shown while the lifecycle stays, in any order. Of a lifecycle that moves
	// they are those of the state that it enters, compared only if given.
	WaitingFor []string
	// Effects of the action, in order, if the lifecycle stays in a state that acts. An action that turns back is an
	// Event turned-back.
	Effects []E
	// Blocked are the guards of the action's Before that are unknown, in any order.
	Blocked []string
}
