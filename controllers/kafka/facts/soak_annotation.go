package facts

import (
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
	if soak, readable := labels.ParseDuration(text); readable {
		return soak, nil
	}
	shown := machines.Cut(kafkaclient.Redact(strings.TrimSpace(text)), 500)
	return 0, transitions.Problemf(ReasonInvalidAnnotation, "the annotation %s is %q: want %s", AnnotationSoak, shown, labels.Durations)
}
