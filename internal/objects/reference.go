// Package objects reads Kubernetes objects from files, as users write them and as kubectl prints them, and from a cluster. It finds the
// object that a user names as TYPE/NAME. It records where each object was read, so that errors can name the place.
package objects

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Reference is a reference to an object, in the form TYPE/NAME.
type Reference struct {
	// Type as kubectl accepts it: a kind, a plural or a short name, with or without its group.
	Type string
	Name string
}

// String formats the reference as TYPE/NAME.
func (r Reference) String() string { return r.Type + "/" + r.Name }

// IsReference reports whether the text has the form of TYPE/NAME. It does not validate the parts.
func IsReference(text string) bool { return strings.Contains(text, "/") }

// ParseReference parses TYPE/NAME.
func ParseReference(text string) (Reference, error) {
	kind, name, ok := strings.Cut(text, "/")
	if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
		return Reference{}, fmt.Errorf("%q names no object: write TYPE/NAME, as for kubectl get", text)
	}
	return Reference{Type: kind, Name: name}, nil
}

// Fits reports whether the reference may refer to the object. The definitions provide the names of a kind. A kind without a
// definition matches by its own name and by its plural with an s.
func (r Reference) Fits(object *unstructured.Unstructured, definitions []*apiextensionsv1.CustomResourceDefinition) bool {
	if object.GetName() != r.Name {
		return false
	}
	gvk := object.GroupVersionKind()
	kind, group, qualified := strings.Cut(strings.ToLower(r.Type), ".")
	if qualified && group != gvk.Group && group != gvk.Version+"."+gvk.Group {
		return false
	}
	own := strings.ToLower(gvk.Kind)
	if kind == own || kind == own+"s" {
		return true
	}
	for _, d := range definitions {
		if d.Spec.Group != gvk.Group || d.Spec.Names.Kind != gvk.Kind {
			continue
		}
		if kind == d.Spec.Names.Plural || kind == d.Spec.Names.Singular || slices.Contains(d.Spec.Names.ShortNames, kind) {
			return true
		}
	}
	return false
}
