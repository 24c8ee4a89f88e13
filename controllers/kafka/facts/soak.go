package facts

import (
	"math"
	"strconv"
	"strings"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// ReasonInvalidAnnotation: the value of an annotation is invalid. No value is assumed instead.
const ReasonInvalidAnnotation = labels.InvalidAnnotation

// AnnotationSoak is how long the new binaries run before the metadata level is raised: a duration such as 36h, or days such as 7d.
const AnnotationSoak = labels.Soak

// SoakTime parses detent.dev/soak: a Go duration, or whole days. An invalid value is a problem and never zero, because the step
// that it delays cannot be undone.
func SoakTime(k *kafkav1beta2.Kafka) (soak time.Duration, problem *transitions.Problem) {
	text, set := k.Annotations[AnnotationSoak]
	if !set {
		return 0, nil
	}
	text = strings.TrimSpace(text)
	if soak, readable := days(text); readable {
		return soak, nil
	}
	if soak, err := time.ParseDuration(text); err == nil && soak >= 0 {
		return soak, nil
	}
	return 0, transitions.Problemf(ReasonInvalidAnnotation, "the annotation %s is %q: want a duration such as 90m or 36h, or whole days such as 7d", AnnotationSoak, machines.Cut(kafkaclient.Redact(text), 500))
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
