package request

import (
	"time"

	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/transitions"
)

// ExpireAfter returns how long a request may wait before anything is sent; zero without limit. With an invalid value no request lapses.
func ExpireAfter(annotations map[string]string) (time.Duration, *transitions.Problem) {
	text, set := annotations[labels.OffsetsExpireAfter]
	if !set {
		return 0, nil
	}
	if limit, readable := labels.ParseDuration(text); readable && limit > 0 {
		return limit, nil
	}
	return 0, transitions.Problemf(labels.InvalidAnnotation, "the annotation %s is %s: want %s. No request lapses until it is corrected.", labels.OffsetsExpireAfter, quote(text), labels.Durations)
}
