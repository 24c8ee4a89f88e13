package states

import "time"

// Defaults for states that leave a value out.
const (
	// DefaultPoll is the time after which a Work or Wait state is requeued.
	DefaultPoll = 5 * time.Second
	// DefaultBackoffMin is the back-off after the first failure of an action.
	DefaultBackoffMin = time.Second
	// DefaultBackoffMax is the longest back-off after repeated failures.
	DefaultBackoffMax = 5 * time.Minute
)
