package labels

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/internal/nearest"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Annotations that users set on resources.
const (
	// Drain on a Kafka requests with "true" that the replicas of brokers that leave are moved to brokers that stay.
	Drain = "detent.dev/drain"
	// SkipCheck on a Kafka permits with "true" that a broker is removed although it holds replicas. Its meaning is Strimzi's.
	SkipCheck = "strimzi.io/skip-broker-scaledown-check"
	// Soak on a Kafka is how long the new binaries run before the metadata level is raised.
	Soak = "detent.dev/soak"
	// AcceptOutage on a Cluster lists the types of daemons whose outage is accepted.
	AcceptOutage = "detent.dev/accept-outage"
	// IgnoreHealth on a Cluster lets a health code pass for one attempt.
	IgnoreHealth = "detent.dev/ignore-health"
	// OffsetsRequest on a KafkaMirrorMaker2 shows the request for offsets that is carried out. It is the operator's.
	OffsetsRequest = "detent.dev/offsets-request"
	// OffsetsExpireAfter on a KafkaMirrorMaker2 is how long a request for offsets may wait before anything of it is sent.
	OffsetsExpireAfter = "detent.dev/offsets-expire-after"

	prefix = "detent.dev/"
)

// Reasons of Warnings about annotations.
const (
	// InvalidAnnotation: the value of an annotation is invalid. No value is assumed instead.
	InvalidAnnotation = "InvalidAnnotation"
	// UnknownAnnotation: an annotation of detent.dev that resources of the kind do not have.
	UnknownAnnotation = "UnknownAnnotation"
)

// known returns the annotations of detent.dev that resources of a kind have.
func known(kind string) (names []string) {
	for _, a := range Annotations() {
		if strings.HasPrefix(a.Name, prefix) && slices.Contains(a.Kinds, kind) && !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	if kind == KindMirrorMaker2 {
		names = append(names, OffsetsRequest)
	}
	return names
}

// flags are the boolean annotations of objects of a kind, without those of a pause: an object with an invalid one is paused, and says so.
var flags = map[string][]string{
	KindKafka: {Drain, SkipCheck},
	KindPod:   {RollingUpdate, DeletePodAndPVC},
	KindSet:   {RollingUpdate},
}

// longest is how many bytes of the name or of the value of an annotation are shown.
const longest = 64

// Unknown says which annotations of detent.dev have no effect on an object, because its kind does not have them.
func Unknown(kind string, o metav1.Object) (texts []string) {
	for _, name := range slices.Sorted(maps.Keys(o.GetAnnotations())) {
		if !strings.HasPrefix(name, prefix) || slices.Contains(known(kind), name) {
			continue
		}
		remedy := "Remove it"
		if near := nearest.Of(name, known(kind)); near != "" {
			remedy += ", or write " + near
		}
		texts = append(texts, fmt.Sprintf("the annotation %s of %s %s is unknown and has no effect. %s", machines.Cut(name, longest), kind, o.GetName(), remedy))
	}
	return texts
}

// Invalid says which boolean annotations of an object have no effect, because they are neither true nor false.
func Invalid(kind string, o metav1.Object) (texts []string) {
	for _, name := range flags[kind] {
		value, set := o.GetAnnotations()[name]
		if _, valid := lifecycle.ParseFlag(value); set && !valid {
			texts = append(texts, fmt.Sprintf("the annotation %s of %s %s is %q, neither true nor false, and has no effect: write true, or remove it",
				name, kind, o.GetName(), machines.Cut(value, longest)))
		}
	}
	return texts
}
