// Package walk changes every field of a custom resource, with values that its schema allows and values that it forbids. After
// each edit it checks that the resource comes to rest or shows why it does not.
package walk

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Class of an edit: how it changes its field.
type Class string

// Classes of edits.
const (
	Drop      Class = "drop"
	Enum      Class = "enum"
	Toggle    Class = "toggle"
	Number    Class = "number"
	Bound     Class = "bound"
	Beyond    Class = "beyond"
	Text      Class = "text"
	Mismatch  Class = "mismatch"
	Push      Class = "push"
	Pop       Class = "pop"
	Empty     Class = "empty"
	WrongType Class = "wrong type"
	Unknown   Class = "unknown field"
	Sample    Class = "sample"
)

// Edit of one field.
type Edit struct {
	// Path from the resource's root. Numbers are positions in lists.
	Path  []any
	Class Class
	// Valid is whether the schema of the field allows the edit. Validation rules over several fields may still reject it.
	Valid bool
	// Value to set; nil removes the field.
	Value any
}

// String returns the edit as a user repeats it.
func (e Edit) String() string {
	value, err := json.Marshal(e.Value)
	if err != nil {
		value = fmt.Append(nil, e.Value)
	}
	if len(value) > 80 {
		value = fmt.Appendf(nil, "%s... (%d bytes)", value[:60], len(value))
	}
	if e.Class == Drop {
		return e.Where() + " taken away"
	}
	return fmt.Sprintf("%s = %s (%s)", e.Where(), value, e.Class)
}

// Where returns the path with dots.
func (e Edit) Where() string {
	parts := make([]string, len(e.Path))
	for i, p := range e.Path {
		parts[i] = fmt.Sprint(p)
	}
	return strings.Join(parts, ".")
}

// Samples are values by path that are significant for the controllers, in addition to those that follow from the schema. A path
// has a star for each position in a list.
type Samples map[string][]any

// Edits returns all edits of a resource's field and of the fields in it.
func Edits(schema *apiextensionsv1.JSONSchemaProps, object map[string]any, field string, samples Samples) []Edit {
	w := walker{samples: samples}
	child := schema.Properties[field]
	w.walk(&child, []any{field}, object[field], slices.Contains(schema.Required, field))
	return w.edits
}

type walker struct {
	samples Samples
	edits   []Edit
}

func (w *walker) add(path []any, class Class, valid bool, value any) {
	w.edits = append(w.edits, Edit{Path: slices.Clone(path), Class: class, Valid: valid, Value: value})
}

func (w *walker) walk(schema *apiextensionsv1.JSONSchemaProps, path []any, value any, required bool) {
	if value != nil {
		w.add(path, Drop, !required, nil)
	}
	for _, sample := range w.samples[star(path)] {
		w.add(path, Sample, true, sample)
	}
	switch {
	case schema.XIntOrString:
		w.add(path, WrongType, false, map[string]any{"a": int64(1)})
	case schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields:
		if schema.Type == "object" {
			w.add(path, Empty, true, map[string]any{})
			w.add(path, Push, true, map[string]any{"type": "x", "deep": map[string]any{"list": []any{int64(1), "a"}}})
		}
	case schema.Type == "object":
		w.object(schema, path, value)
	case schema.Type == "array":
		w.array(schema, path, value)
	case schema.Type == "boolean":
		on, _ := value.(bool)
		w.add(path, Toggle, true, !on)
		w.add(path, WrongType, false, "yes")
	case schema.Type == "integer":
		w.number(schema, path, value)
	case schema.Type == "string":
		w.text(schema, path, value)
	}
}

func (w *walker) object(schema *apiextensionsv1.JSONSchemaProps, path []any, value any) {
	fields, _ := value.(map[string]any)
	w.add(path, WrongType, false, "x")
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		w.entries(schema, path, fields)
		return
	}
	w.add(path, Empty, len(schema.Required) == 0, map[string]any{})
	w.add(append(slices.Clone(path), "nobodyKnowsThis"), Unknown, false, "x")
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		child := schema.Properties[name]
		w.walk(&child, append(slices.Clone(path), name), fields[name], slices.Contains(schema.Required, name))
	}
}

// entries adds the edits of a map.
func (w *walker) entries(schema *apiextensionsv1.JSONSchemaProps, path []any, have map[string]any) {
	w.add(path, Empty, true, map[string]any{})
	of := schema.AdditionalProperties.Schema
	for _, name := range append(slices.Sorted(maps.Keys(have)), "new-entry") {
		w.walk(of, append(slices.Clone(path), name), have[name], false)
	}
	if most := schema.MaxProperties; most != nil {
		many := map[string]any{}
		for i := range *most + 1 {
			many[fmt.Sprintf("key-%d", i)] = w.example(of)
		}
		w.add(path, Beyond, false, many)
	}
}

func (w *walker) array(schema *apiextensionsv1.JSONSchemaProps, path []any, value any) {
	items, _ := value.([]any)
	of := schema.Items.Schema
	least := int64(0)
	if schema.MinItems != nil {
		least = *schema.MinItems
	}
	w.add(path, WrongType, false, "x")
	w.add(path, Empty, least == 0, []any{})
	w.add(path, Push, true, append(slices.Clone(items), w.example(of)))
	if len(items) > 0 {
		w.add(path, Pop, int64(len(items)-1) >= least, slices.Clone(items[:len(items)-1]))
		w.add(path, Push, true, append(slices.Clone(items), items[len(items)-1]))
	}
	if schema.MaxItems != nil {
		many := make([]any, *schema.MaxItems+1)
		for i := range many {
			many[i] = w.example(of)
		}
		w.add(path, Beyond, false, many)
	}
	for i := range items {
		w.walk(of, append(slices.Clone(path), i), items[i], int64(len(items)-1) < least)
	}
}

func (w *walker) number(schema *apiextensionsv1.JSONSchemaProps, path []any, value any) {
	now, _ := value.(int64)
	within := func(n int64) bool {
		return (schema.Minimum == nil || float64(n) >= *schema.Minimum) && (schema.Maximum == nil || float64(n) <= *schema.Maximum)
	}
	for _, n := range []int64{now + 1, now - 1, 0} {
		w.add(path, Number, within(n), n)
	}
	if schema.Minimum != nil {
		w.add(path, Bound, true, int64(*schema.Minimum))
		w.add(path, Beyond, false, int64(*schema.Minimum)-1)
	}
	if schema.Maximum != nil {
		w.add(path, Bound, true, int64(*schema.Maximum))
		w.add(path, Beyond, false, int64(*schema.Maximum)+1)
	}
	if schema.Format == "int32" {
		w.add(path, Beyond, false, int64(1)<<40)
	}
	w.add(path, WrongType, false, "three")
	w.add(path, WrongType, false, 1.5)
}

func (w *walker) text(schema *apiextensionsv1.JSONSchemaProps, path []any, value any) {
	for _, raw := range schema.Enum {
		var member string
		if json.Unmarshal(raw.Raw, &member) == nil && member != value {
			w.add(path, Enum, true, member)
		}
	}
	free := len(schema.Enum) == 0 && schema.Pattern == "" && schema.Format == ""
	least := schema.MinLength != nil && *schema.MinLength > 0
	w.add(path, Mismatch, free && !least, "")
	w.add(path, Mismatch, false || free, "no such thing\n\u00e4")
	if free {
		w.add(path, Text, true, "walked")
	}
	if most := schema.MaxLength; most != nil {
		w.add(path, Beyond, false, strings.Repeat("x", int(*most)+1))
		if free {
			w.add(path, Bound, true, strings.Repeat("x", int(*most)))
		}
	}
	w.add(path, WrongType, false, int64(7))
}

// example returns a small value that the schema allows as far as types are concerned.
func (w *walker) example(schema *apiextensionsv1.JSONSchemaProps) any {
	switch {
	case schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields, schema.Type == "object":
		out := map[string]any{}
		for _, name := range schema.Required {
			child := schema.Properties[name]
			out[name] = w.example(&child)
		}
		return out
	case schema.Type == "array":
		return []any{}
	case schema.Type == "boolean":
		return true
	case schema.Type == "integer":
		if schema.Minimum != nil {
			return int64(*schema.Minimum) + 1
		}
		return int64(1)
	case len(schema.Enum) > 0:
		var member any
		if json.Unmarshal(schema.Enum[0].Raw, &member) == nil {
			return member
		}
	}
	return "example"
}

// star returns the path in the form that Samples uses.
func star(path []any) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = fmt.Sprint(p)
		if _, position := p.(int); position {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}

// Apply applies the edit to a copy of the object. Missing parents of the field are created.
func (e Edit) Apply(object map[string]any) map[string]any {
	out, _ := set(clone(object), e.Path, e.Value, e.Class == Drop).(map[string]any)
	return out
}

func set(at any, path []any, value any, drop bool) any {
	if len(path) == 0 {
		return clone(value)
	}
	switch step := path[0].(type) {
	case int:
		list, _ := at.([]any)
		if step >= len(list) {
			return at
		}
		if drop && len(path) == 1 {
			return slices.Delete(list, step, step+1)
		}
		list[step] = set(list[step], path[1:], value, drop)
		return list
	default:
		fields, ok := at.(map[string]any)
		if !ok {
			fields = map[string]any{}
		}
		name := fmt.Sprint(step)
		if drop && len(path) == 1 {
			delete(fields, name)
			return fields
		}
		fields[name] = set(fields[name], path[1:], value, drop)
		return fields
	}
}

func clone[T any](value T) T {
	switch v := any(value).(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, child := range v {
			out[name] = clone(child)
		}
		return any(out).(T) //nolint:forcetypeassert // the type is the one switched on
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = clone(child)
		}
		return any(out).(T) //nolint:forcetypeassert // the type is the one switched on
	}
	return value
}
