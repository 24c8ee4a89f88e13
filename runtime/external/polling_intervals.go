package external

import "time"

// renewals is how often an answer is requested again within its maximum age.
const renewals = 10

// retryFailed is the delay before a failed question is sent again, independently of the state that waits for it: at rest only the
// next resync would repeat it.
const retryFailed = 10 * time.Second

const (
	// refreshInFlight is the maximum age of an answer while a command may take effect. Each answer triggers a reconcile, which
	// must not repeat the question at once.
	refreshInFlight = time.Second
	// refreshAfterInFlight is the delay of one more read after the last command could take effect. A question that is in
	// flight for less is not repeated.
	refreshAfterInFlight = 10 * time.Second
)

// defaultSettle is how long a command may take effect after its sender has ended, and its effect may take to be visible. It must
// exceed the time limit of a command in the system, with what the system needs to forward it and to show its effect.
const defaultSettle = time.Minute
