package cli

import "time"

// Bounds of a call.
const (
	// DefaultConnectTimeout is how long the program tries to reach a monitor.
	DefaultConnectTimeout = 5 * time.Second
	// DefaultTimeout is how long a call takes at most. The program takes up to 0.8 seconds without waiting.
	DefaultTimeout = 10 * time.Second
	// DefaultMaxOutput suffices for the OSD map of some ten thousand OSDs.
	DefaultMaxOutput = 32 << 20
	// grace is how long the output is read after the program was killed.
	grace = time.Second
)
