// Package annotations judges the annotations of a resource: which have no effect, and why.
package annotations

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/internal/nearest"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// prefix of the annotations that are Detent's own.
const prefix = "detent.dev/"

// known returns the annotations of detent.dev that resources of a kind have.
func known(kind string) (names []string) {
	for _, a := range labels.Annotations() {
		if strings.HasPrefix(a.Name, prefix) && slices.Contains(a.Kinds, kind) && !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	if kind == labels.KindMirrorMaker2 {
		names = append(names, labels.OffsetsRequest)
	}
	return names
}

// flags are the boolean annotations of objects of a kind, without those of a pause: an object with an invalid one is paused, and says so.
func flags(kind string) []string {
	switch kind {
	case labels.KindKafka:
		return []string{labels.Drain, labels.SkipCheck}
	case labels.KindPod:
		return []string{labels.RollingUpdate, labels.DeletePodAndPVC}
	case labels.KindSet:
		return []string{labels.RollingUpdate}
	}
	return nil
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
	for _, name := range flags(kind) {
		value, set := o.GetAnnotations()[name]
		if _, valid := lifecycle.ParseFlag(value); set && !valid {
			texts = append(texts, fmt.Sprintf("the annotation %s of %s %s is %q, neither true nor false, and has no effect: write true, or remove it",
				name, kind, o.GetName(), machines.Cut(value, longest)))
		}
	}
	return texts
}
