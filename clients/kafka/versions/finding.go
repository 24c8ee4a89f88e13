package versions

import (
	"fmt"
	"strings"
)

// Finding is one problem of a table.
type Finding struct {
	// Line counts from 1; 0 if the finding is about the table as a whole.
	Line int
	// Row counts from 1; 0 if the finding is about the table as a whole.
	Row int
	// Version is the version text of the row, "" if it could not be read.
	Version string
	// Field is the field at fault, "" if it is the row.
	Field string
	// Problem is what is wrong and what to write instead.
	Problem string
}

// String formats the finding in one line: the place, then the problem.
func (f Finding) String() string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", f.Line)
	}
	if f.Row > 0 {
		fmt.Fprintf(&b, "row %d", f.Row)
		if f.Version != "" {
			fmt.Fprintf(&b, " (%s)", f.Version)
		}
		if f.Field != "" {
			fmt.Fprintf(&b, ", field %q", f.Field)
		}
		b.WriteString(": ")
	}
	b.WriteString(f.Problem)
	return b.String()
}

// TableError is all problems of a table, in the order of its lines.
type TableError struct {
	// Source names the file or ConfigMap that the table was read from.
	Source   string
	Findings []Finding
}

// Error names the source and lists the findings, one per line if there are several.
func (e *TableError) Error() string {
	if len(e.Findings) == 1 {
		return fmt.Sprintf("version table %s: %s", e.Source, e.Findings[0])
	}
	lines := make([]string, 0, len(e.Findings)+1)
	lines = append(lines, fmt.Sprintf("version table %s: %d findings", e.Source, len(e.Findings)))
	for _, f := range e.Findings {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n  ")
}
