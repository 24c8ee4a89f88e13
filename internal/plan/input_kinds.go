package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/internal/nearest"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/resource"
)

// readUnknown reads a resource of no kind that a plan knows. It is an error if its kind or its group is probably misspelt, else a note.
func (r *reader) readUnknown(m objects.Manifest) {
	gvk := m.Object.GroupVersionKind()
	kinds := r.kindsOf(gvk.Group)
	if near := nearest.Of(gvk.Kind, kinds); near != "" {
		r.fail(m, "kind", "%s has no kind %s here: write %s, or leave the resource out", gvk.Group, gvk.Kind, near)
		return
	}
	if group := nearest.Of(gvk.Group, r.groups()); len(kinds) == 0 && slices.Contains(r.kindsOf(group), gvk.Kind) {
		r.fail(m, "apiVersion", "a %s is of %s and not of %s: write %s/%s", gvk.Kind, group, gvk.Group, group, gvk.Version)
		return
	}
	note := fmt.Sprintf("%s is not used: no lifecycle looks at %s of %s", describe(m), gvk.Kind, gvk.GroupVersion())
	if len(kinds) > 0 {
		note += ", but at " + strings.Join(kinds, ", ")
	}
	r.in.Notes = append(r.in.Notes, note)
}

// groups are the API groups of Detent's definitions.
func (r *reader) groups() (out []string) {
	for _, d := range r.definitions {
		out = append(out, d.Spec.Group)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// kindsOf are the kinds of a group of Detent's definitions, sorted.
func (r *reader) kindsOf(group string) (out []string) {
	for _, d := range r.definitions {
		if d.Spec.Group == group {
			out = append(out, d.Spec.Names.Kind)
		}
	}
	slices.Sort(out)
	return out
}

// nothing is the error of an input without a resource with a lifecycle. It says what the input holds, and why that was not used.
func (r *reader) nothing() error {
	held := "it is empty"
	if len(r.held) > 0 {
		held = "it holds " + Few(r.held)
	}
	return fmt.Errorf("%s", strings.Join(append([]string{"the input holds no resource with a lifecycle: give " + r.wanted() + "; " + held}, r.in.Notes...), "\n"))
}

// wanted describes, for each kind, what a plan needs.
func (r *reader) wanted() string {
	var out []string
	for i := range r.in.kinds {
		k := &r.in.kinds[i]
		var with []string
		for _, p := range k.Parts {
			if gvks, _, err := r.scheme.ObjectKinds(p.Object); err == nil && p.Access == resource.Declared {
				with = append(with, "its "+plural(gvks[0].Kind))
			}
		}
		with = append(with, "the other objects that belong to it")
		out = append(out, "a "+k.Name+", with "+strings.Join(with, " and "))
	}
	return strings.Join(out, ", or ")
}
