package runtime

import (
	"slices"
	"strings"
	"time"
)

// slot lets one disruption of an object happen at a time. What it remembers only makes it stricter: the decision rests on
// what is disturbed in a live view, so that it is rebuilt by looking after a restart.
type slot struct {
	target string
	at     time.Time
}

// grant says whether the target may be disrupted now: only if nothing else is disturbed. When nothing serves there is nothing
// to protect, and only what is in the middle of a restart is waited for. A disturbed target never blocks itself, so that
// a crash loop cannot hold the slot against its own repair.
func (s *slot) grant(target string, live Disturbance, now time.Time) (bool, string) {
	others := live.Targets
	if live.NothingServing {
		others = live.Restarting
	}
	var blocking []string
	for _, o := range others {
		if o != target {
			blocking = append(blocking, o)
		}
	}
	if len(blocking) > 0 {
		slices.Sort(blocking)
		return false, "still disturbed: " + list(blocking)
	}
	s.target, s.at = target, now
	return true, ""
}

// list shows at most three names and the total.
func list(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shown], ", ") + " and more"
}
