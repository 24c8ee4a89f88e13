package versions

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Parse reads a table: a YAML (or JSON) list of rows.
//
//	# one row
//	- version: 4.1.2            # as in the annotation of pods
//	  supported: true           # whether a cluster may be asked to run it
//	  default: true             # in exactly one row: what a cluster runs if its spec names no version
//	  metadata: "4.1"           # highest metadata.version; the short form is its last sub-version
//	  minMetadata: 3.3-IV3      # lowest; default: 3.3-IV3 from 4.0 on, otherwise level 1
//	  features:                 # levels of other features: [lowest, highest]
//	    share.version: [0, 1]
//	  image: apache/kafka:4.1.2 # default: this one
//
// A row makes no statement about a feature that it does not name; [0, 0] means that the version
// does not have the feature. A row without metadata is valid, and is refused when its level is
// needed. For a version whose metadata level has no name in this package yet, features may give
// the levels of metadata.version instead of metadata.
//
// source names the file or ConfigMap in errors. The error is a *TableError with all findings.
func Parse(data []byte, source string) (*Table, error) {
	r := tableReader{
		table: Table{source: source, byText: map[string]int{}, byDefault: -1},
		lines: map[string]int{},
	}
	r.read(data)
	if len(r.findings) > 0 {
		return nil, &TableError{Source: source, Findings: r.findings}
	}
	return r.finish(), nil
}

// tableReader collects rows and findings. It continues after a finding, so that a user can correct
// all problems at once.
type tableReader struct {
	table    Table
	findings []Finding
	// lines is the line at which each version was first read.
	lines map[string]int
	// defaults are the rows that are marked as the default.
	defaults []string
}

func (r *tableReader) fail(f Finding) { r.findings = append(r.findings, f) }

func (r *tableReader) read(data []byte) {
	list, err := onlyDocument(data)
	if err != nil {
		r.fail(Finding{Problem: err.Error()})
		return
	}
	if list.Kind != yaml.SequenceNode {
		r.fail(Finding{Line: list.Line, Problem: `the table is not a list: write one "- version: ..." per Kafka version`})
		return
	}
	for i, node := range list.Content {
		r.readRow(i+1, node)
	}
	switch len(r.defaults) {
	case 1:
	case 0:
		r.fail(Finding{Problem: `no row is the default: write "default: true" in the row that a cluster without a wanted version runs`})
	default:
		r.fail(Finding{Problem: fmt.Sprintf("%d rows are the default (%s): leave \"default: true\" in one of them",
			len(r.defaults), joinCut(r.defaults))})
	}
}

// onlyDocument returns the root of the only YAML document.
func onlyDocument(data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, more yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF) || (err == nil && len(document.Content) == 0):
		return nil, errors.New("the table is empty: write at least one row")
	case err != nil:
		return nil, fmt.Errorf("the table is not YAML: %w", err)
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("the table is more than one YAML document: put all rows into one list")
	}
	return document.Content[0], nil
}

// readRow adds a row, or the findings why it is not valid.
func (r *tableReader) readRow(position int, node *yaml.Node) {
	before := len(r.findings)
	f := newFields(r, position, node)
	if f == nil {
		return
	}
	row := Row{number: f.number("version")}
	row.supported = f.boolean("supported", true)
	row.isDefault = f.boolean("default", false)
	row.image = f.image("image")
	row.features = f.features("features")
	row.features = f.metadata(&row)
	f.rejectOthers()
	r.checkRow(f, &row)
	if len(r.findings) > before {
		return
	}
	r.table.rows = append(r.table.rows, row)
}

// checkRow checks a row against the rows before it: duplicate versions and defaults.
func (r *tableReader) checkRow(f *fields, row *Row) {
	if row.isDefault {
		r.defaults = append(r.defaults, cmp.Or(row.number.text, fmt.Sprintf("row %d", f.position)))
		if !row.supported {
			f.fail("default", "the default is not supported: write \"supported: true\", or make a supported row the default")
		}
	}
	if row.number.IsZero() {
		return
	}
	if line, ok := r.lines[row.number.text]; ok {
		f.fail("version", fmt.Sprintf("%s is listed twice, first in line %d: remove one of the rows", row.number, line))
		return
	}
	r.lines[row.number.text] = f.node.Line
}

// finish sorts the rows and indexes them.
func (r *tableReader) finish() *Table {
	t := r.table
	slices.SortFunc(t.rows, func(a, b Row) int {
		return cmp.Or(a.number.Compare(b.number), cmp.Compare(a.number.text, b.number.text))
	})
	for i := range t.rows {
		t.byText[t.rows[i].number.text] = i
		if t.rows[i].isDefault {
			t.byDefault = i
		}
	}
	return &t
}
