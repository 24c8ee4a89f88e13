package labels

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Durations says which values ParseDuration reads, for messages.
const Durations = "a duration such as 90m or 36h, or whole days such as 7d"

// ParseDuration parses the value of an annotation: a Go duration that is not negative, or whole days. It returns false for another value.
func ParseDuration(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if d, readable := days(text); readable {
		return d, true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

// days parses whole days, such as 7d, up to the maximum of a duration.
func days(text string) (time.Duration, bool) {
	const day = 24 * time.Hour
	number, inDays := strings.CutSuffix(text, "d")
	n, err := strconv.ParseUint(number, 10, 32)
	if !inDays || err != nil || n > uint64(math.MaxInt64/day) {
		return 0, false
	}
	return time.Duration(n) * day, true //nolint:gosec // the limit is checked above
}
