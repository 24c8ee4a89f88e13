package versions

import (
	"fmt"
	"strings"
)

// Finding is one thing that is wrong with a table.
type Finding struct {
	// Line counts from 1; 0 when the finding is of the table as a whole.
	Line int
	// Row counts from 1; 0 when the finding is of the table as a whole.
	Row int
	// Version is what the row calls itself, as far as that could be read.
	Version string
	// Field is the field at fault, "" when it is the row.
	Field string
	// Problem says what is wrong and what to write instead.
	Problem string
}

// String gives the finding in one line: where, then what.
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

// TableError is everything that is wrong with a table, in the order of its lines.
type TableError struct {
	// Source names the file or ConfigMap that the table was read from.
	Source   string
	Findings []Finding
}

// Error names the source and lists the findings, one a line when there are more.
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
