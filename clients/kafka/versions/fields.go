package versions

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fields reads the fields of one row by name and reports those that no row has.
type fields struct {
	reader   *tableReader
	position int
	node     *yaml.Node
	// version is the row's version text, used in findings.
	version string
	values  map[string]*yaml.Node
	asked   []string
}

// newFields reads the fields of a row. It returns nil and reports a finding if the row is
// not a mapping.
func newFields(r *tableReader, position int, node *yaml.Node) *fields {
	f := &fields{reader: r, position: position, node: node, values: map[string]*yaml.Node{}}
	if node.Kind != yaml.MappingNode {
		f.failAt(node.Line, "", `the row is not a set of fields: write "version: ..." and the others below it`)
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Value == "version" && value.Kind == yaml.ScalarNode {
			f.version = value.Value
		}
		if _, twice := f.values[key.Value]; twice {
			f.failAt(key.Line, key.Value, "the field is given twice: remove one")
		}
		f.values[key.Value] = value
	}
	return f
}

func (f *fields) fail(field, problem string) {
	line := f.node.Line
	if value, ok := f.values[field]; ok {
		line = value.Line
	}
	f.failAt(line, field, problem)
}

func (f *fields) failAt(line int, field, problem string) {
	f.reader.fail(Finding{Line: line, Row: f.position, Version: f.version, Field: field, Problem: problem})
}

// rejectOthers reports fields that no row has. Otherwise a mistyped name would be ignored.
func (f *fields) rejectOthers() {
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		key := f.node.Content[i]
		if !slices.Contains(f.asked, key.Value) {
			f.failAt(key.Line, key.Value, "no such field: a row has "+strings.Join(f.asked, ", "))
		}
	}
}

// scalar returns the text of a field, and false if the field is absent, null or not a
// scalar.
func (f *fields) scalar(name string) (string, bool) {
	f.asked = append(f.asked, name)
	if f.absent(name) {
		return "", false
	}
	value := f.values[name]
	if value.Kind != yaml.ScalarNode {
		f.fail(name, "write one value; lists, sets of fields and aliases have no meaning here")
		return "", false
	}
	return value.Value, true
}

// absent reports whether a field is missing or null.
func (f *fields) absent(name string) bool {
	value, ok := f.values[name]
	return !ok || value.Tag == "!!null"
}

// number reads a Kafka version, which is required.
func (f *fields) number(name string) Number {
	text, ok := f.scalar(name)
	if !ok {
		if f.absent(name) {
			f.fail(name, "the field is missing: write the Kafka version, such as 4.1.1")
		}
		return Number{}
	}
	n, err := ParseNumber(text)
	if err != nil {
		f.fail(name, err.Error())
	}
	return n
}

// boolean reads true or false. The default of an optional field is false.
func (f *fields) boolean(name string, required bool) bool {
	text, ok := f.scalar(name)
	switch {
	case !ok && required && f.absent(name):
		f.fail(name, "the field is missing: write true or false")
	case ok && text != "true" && text != "false":
		f.fail(name, fmt.Sprintf("%q is neither true nor false", text))
	}
	return text == "true"
}

// image reads a container image, "" if it is absent.
func (f *fields) image(name string) string {
	text, ok := f.scalar(name)
	if ok && (text == "" || strings.ContainsAny(text, " \t\r\n")) {
		f.fail(name, fmt.Sprintf("%q is not an image: write one such as apache/kafka:4.1.1, or leave the field out", text))
	}
	return text
}

// features reads the ranges of the features, sorted by name.
func (f *fields) features(name string) []featureRange {
	f.asked = append(f.asked, name)
	if f.absent(name) {
		return nil
	}
	value := f.values[name]
	if value.Kind != yaml.MappingNode {
		f.fail(name, "not a set of features: write one \"share.version: [0, 1]\" a line")
		return nil
	}
	var ranges []featureRange
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, levels := value.Content[i], value.Content[i+1]
		field := name + "." + key.Value
		if slices.ContainsFunc(ranges, func(r featureRange) bool { return r.name == key.Value }) {
			f.failAt(key.Line, field, "the feature is given twice: remove one")
			continue
		}
		r, err := parseRange(levels)
		if err != nil {
			f.failAt(levels.Line, field, err.Error())
		}
		ranges = append(ranges, featureRange{name: key.Value, levels: r})
	}
	slices.SortFunc(ranges, func(a, b featureRange) int { return cmp.Compare(a.name, b.name) })
	return ranges
}

// parseRange parses "[lowest, highest]".
func parseRange(node *yaml.Node) (Range, error) {
	form := errors.New("write the lowest and the highest level, such as [0, 1]")
	if node.Kind != yaml.SequenceNode || len(node.Content) != 2 {
		return Range{}, form
	}
	var ends [2]int16
	for i, end := range node.Content {
		level, err := strconv.ParseInt(end.Value, 10, 16)
		if end.Kind != yaml.ScalarNode || err != nil || level < 0 {
			return Range{}, fmt.Errorf("%q is not a level (0 to 32767): %w", end.Value, form)
		}
		ends[i] = int16(level)
	}
	if ends[0] > ends[1] {
		return Range{}, fmt.Errorf("the lowest level %d is above the highest %d: %w", ends[0], ends[1], form)
	}
	return Range{Min: ends[0], Max: ends[1]}, nil
}

// joinCut joins at most five texts and the number of the others.
func joinCut(texts []string) string {
	const most = 5
	if len(texts) <= most {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], ", "), len(texts)-most)
}
