package states

import "time"

// Backoff bounds the exponential back-off of an action that fails. It doubles from Min to Max. A value that is not positive
// means the default: DefaultBackoffMin, and DefaultBackoffMax or Min if that is longer.
type Backoff struct {
	Min, Max time.Duration
}

// After returns the back-off after the given number of consecutive failures. Less than one failure counts as one.
//
//	failures  1    2    3    4    5     6     7     8      9      10
//	pause     1s   2s   4s   8s   16s   32s   64s   128s   256s   300s   (with the defaults)
func (b Backoff) After(failures int) time.Duration {
	least, most := b.Min, b.Max
	if least <= 0 {
		least = DefaultBackoffMin
	}
	if most <= 0 {
		most = max(least, DefaultBackoffMax)
	}
	pause := least
	for i := 1; i < failures && pause < most; i++ {
		pause *= 2
	}
	return min(pause, most)
}
