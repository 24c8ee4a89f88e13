package runtime

import "time"

// Defaults of what a Kind may leave out.
const (
	defaultResync         = 10 * time.Minute
	defaultObserveTimeout = 5 * time.Second
	// defaultExecuteTimeout is long enough for the children of some thousand members at the default rate of requests of a manager.
	defaultExecuteTimeout = 2 * time.Minute
)

// withDefaults fills in what the kind leaves out.
func (k Kind[O, S, E]) withDefaults() Kind[O, S, E] {
	if k.ObserveTimeout == 0 {
		k.ObserveTimeout = defaultObserveTimeout
	}
	if k.ExecuteTimeout == 0 {
		k.ExecuteTimeout = defaultExecuteTimeout
	}
	if k.Resync == 0 {
		k.Resync = defaultResync
	}
	return k
}
