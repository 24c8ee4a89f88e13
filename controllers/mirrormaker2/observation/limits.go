package observation

import (
	"time"

	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
)

// Limits are the times by which requests for offsets are decided, other than those that a machine declares.
type Limits struct {
	// Settle is how long a change that was sent may still be executed.
	Settle time.Duration
	// Retry is how long a change that was not executed waits before it is sent again, and Failed how long a request that failed waits
	// before it is tried again at first. That pause grows to Longest: a request that lingers must not use up the allowance of transitions.
	Retry, Failed, Longest time.Duration
	// silence is how long a worker that may commit offsets may give no answer, until it must be restarted.
	silence time.Duration
	// absence is how long the pod of a process must be gone while its kubelet is alive, until the kubelet has ended its containers.
	absence time.Duration
}

// absence as in Limits.
const absence = 2 * time.Minute

// limits returns the times multiplied by a factor; 0 means 1.
func limits(scale float64) Limits {
	scaled := func(d time.Duration) time.Duration { return connection.Scaled(d, scale) }
	return Limits{
		Settle: scaled(connection.Settle), Retry: scaled(5 * time.Second), Failed: scaled(2 * time.Minute), Longest: scaled(10 * time.Minute), silence: scaled(2 * time.Minute), absence: scaled(absence),
	}
}
