package plan

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/detent-dev/detent/internal/objects"
)

// fieldOf returns the field that an error is about; empty if it names none.
func fieldOf(e *field.Error) string {
	if e.Field == "<nil>" {
		return ""
	}
	return e.Field
}

// wrongType is how a schema says that a value has another type than its field.
var wrongType = regexp.MustCompile(`must be of type (string|integer|number|boolean): "(string|integer|number|boolean)"`)

// quotes says how to write a value that YAML reads as another type than its field has, such as the version 4.1, which is a number; empty if
// that is not what is wrong.
func quotes(object map[string]any, e *field.Error) string {
	types := wrongType.FindStringSubmatch(e.Detail)
	if types == nil {
		return ""
	}
	value, found := valueAt(object, "."+e.Field)
	switch text, isText := value.(string); {
	case types[1] == "string" && found:
		return fmt.Sprintf(". Write it in quotes: \"%v\"", value)
	case types[1] == "string":
		return ". Write it in quotes"
	case isText && readable(types[1], text):
		return ". Write it without quotes: " + text
	}
	return ""
}

// readable reports whether a text would be of the type without its quotes.
func readable(wanted, text string) bool {
	var err error
	switch wanted {
	case "integer":
		_, err = strconv.ParseInt(text, 10, 64)
	case "number":
		_, err = strconv.ParseFloat(text, 64)
	case "boolean":
		return text == "true" || text == "false"
	}
	return err == nil
}

// valueAt returns the value of a field, if its path can be followed. Keys may contain dots, and are in brackets or after a dot.
func valueAt(value any, path string) (any, bool) {
	if path == "" {
		return value, true
	}
	switch in := value.(type) {
	case map[string]any:
		for key, v := range in {
			for _, begin := range []string{"." + key, "[" + key + "]"} {
				rest, begins := strings.CutPrefix(path, begin)
				if !begins {
					continue
				}
				if found, ok := valueAt(v, rest); ok {
					return found, true
				}
			}
		}
	case []any:
		for i, v := range in {
			if rest, begins := strings.CutPrefix(path, fmt.Sprintf("[%d]", i)); begins {
				return valueAt(v, rest)
			}
		}
	}
	return nil, false
}

// checkMetadata reports labels and annotations that are no texts, and returns whether there are none.
func (r *reader) checkMetadata(m objects.Manifest) bool {
	sound := true
	for _, kind := range []string{"labels", "annotations"} {
		values, _, err := unstructured.NestedMap(m.Object.Object, "metadata", kind)
		if err != nil {
			continue // to decode it fails, with the field
		}
		for _, name := range sorted(values) {
			switch value := values[name].(type) {
			case string, nil:
			case map[string]any, []any:
				sound = false
				r.fail(m, "metadata."+kind+"["+name+"]", "want text")
			default:
				sound = false
				r.fail(m, "metadata."+kind+"["+name+"]", "want text, and YAML reads it as something else. Write it in quotes: \"%v\"", value)
			}
		}
	}
	return sound
}
