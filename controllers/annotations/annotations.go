// Package annotations judges the annotations of a resource: which have no effect, and why.
package annotations

import (
	"fmt"
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

// known returns the annotations of detent.dev that users set on resources of a kind, without that prefix.
func known(kind string) (names []string) {
	for _, a := range labels.Annotations() {
		if name, own := strings.CutPrefix(a.Name, prefix); own && slices.Contains(a.Kinds, kind) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// kindsOf returns the kinds of resources that users set an annotation on.
func kindsOf(name string) (kinds []string) {
	for _, a := range labels.Annotations() {
		if a.Name == name {
			kinds = append(kinds, a.Kinds...)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
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

// Unknown says which annotations of detent.dev have no effect on an object, because its kind does not have them. It names an annotation that was
// probably meant. What follows the prefix is compared, which all have in common.
func Unknown(kind string, o metav1.Object) (texts []string) {
	for name := range o.GetAnnotations() {
		own, ours := strings.CutPrefix(name, prefix)
		if !ours || slices.Contains(known(kind), own) || kind == labels.KindMirrorMaker2 && name == labels.OffsetsRequest {
			continue
		}
		problem := "is unknown and has no effect. Remove it"
		if kinds := kindsOf(name); len(kinds) > 0 {
			problem = "has no effect on this kind, but on " + strings.Join(kinds, ", ") + ". Remove it"
		} else if near := nearest.Of(own, known(kind)); near != "" {
			problem += ", or write " + prefix + near
		}
		texts = append(texts, fmt.Sprintf("the annotation %s of %s %s %s", machines.Cut(name, longest), kind, o.GetName(), problem))
	}
	slices.Sort(texts) // as the names
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
