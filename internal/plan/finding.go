package plan

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/detent-dev/detent/internal/objects"
)

// finding is one error in the input.
type finding struct {
	source objects.Source
	// of is the kind and the name of the resource.
	of      string
	field   string
	problem string
}

func (f finding) String() string {
	text := f.source.String()
	if f.of != "" {
		text += " (" + f.of + ")"
	}
	if f.field != "" {
		text += ": " + f.field
	}
	return text + ": " + f.problem
}

// InputError lists all errors in the input: one line for each finding, with file, document and field.
type InputError struct{ findings []finding }

func (e *InputError) Error() string {
	lines := make([]string, len(e.findings))
	for i, f := range e.findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// sorted returns the keys of a map in order.
func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// Few lists at most five names and the number of the others.
func Few(names []string) string {
	const most = 5
	switch {
	case len(names) == 0:
		return "none"
	case len(names) <= most:
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

var (
	typeMismatch = regexp.MustCompile(`cannot unmarshal (\S+) into Go (?:struct field \S+?\.([a-zA-Z0-9_.\-]+)|value) of type (.+)$`)
	goTypes      = map[string]string{
		"string": "text", "bool": "true or false", "int": "a number", "int16": "a number", "int32": "a number", "int64": "a number", "float64": "a number",
	}
)

// typeFinding describes a decoding error without the names of Go types.
func typeFinding(m objects.Manifest, err error) finding {
	f := finding{source: m.Source, of: describe(m), problem: err.Error()}
	found := typeMismatch.FindStringSubmatch(err.Error())
	if found == nil {
		return f
	}
	wanted := goTypes[found[3]]
	switch {
	case strings.HasPrefix(found[3], "[]"):
		wanted = "a list"
	case wanted == "":
		wanted = "a set of fields"
	}
	f.field = found[2]
	f.problem = fmt.Sprintf("want %s, got %s", wanted, found[1])
	return f
}

// describe returns kind and name of a resource.
func describe(m objects.Manifest) string {
	return strings.TrimSpace(m.Object.GetKind() + " " + m.Object.GetName())
}

// AsInputError returns the InputError in the error's chain, if there is one.
func AsInputError(err error) (*InputError, bool) {
	var found *InputError
	return found, errors.As(err, &found)
}
