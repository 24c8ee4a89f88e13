package runtime

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ParseFlag reads the value of a boolean annotation. As in Java, which reads those of Strimzi, the case of the letters does not matter.
// valid is false for a value that is neither true nor false.
func ParseFlag(value string) (on, valid bool) {
	value = strings.TrimSpace(value)
	on = strings.EqualFold(value, "true")
	return on, on || strings.EqualFold(value, "false")
}

// HasFlag reports whether a boolean annotation of an object is true.
func HasFlag(object metav1.Object, annotation string) bool {
	on, _ := ParseFlag(object.GetAnnotations()[annotation])
	return on
}
