// Package verification judges a machine as a whole, beyond what Compile refuses: by its declared graph, and by its guards over a
// finite domain of facts. It runs no action and knows no object.
//
// Of the graph it asks that every state leads to a rest, that nothing goes round without the world having moved, that a changed
// target is acted upon wherever it is seen, and that what is held is given back on every path. Of the guards, over each facts of
// the domain, it asks which exits of a state say yes together, where none does although nothing is awaited either, and whether
// following the edges while the world stands still comes to an end.
//
// What is found is judged by names alone where there is no domain: each guard counts as free to say yes or no, but one guard says
// the same wherever it stands.
package verification

import (
	"fmt"
	"strings"
)

// Check is one question that is asked of a machine.
type Check string

// The checks, in the order of a report.
const (
	// DeadEnd asks that declared edges lead from every state to a Rest or a planned Hold.
	DeadEnd Check = "dead-end"
	// Livelock asks that no edges go round without a wait or progress.
	Livelock Check = "livelock"
	// Overlap asks which exits of a state say yes together.
	Overlap Check = "overlap"
	// Gap asks that a state that stays says what for.
	Gap Check = "gap"
	// Target asks that a changed spec is acted upon in every state that is not at rest.
	Target Check = "target"
	// Holding asks that what is held is given back on every path.
	Holding Check = "holding"
	// Coverage asks that the domain makes each transition say yes: of one that it does not, nothing was judged.
	Coverage Check = "coverage"
)

// Finding is one thing that is wrong, or, as a note, worth knowing.
type Finding struct {
	// Where names the state, transition or cycle.
	Where string `json:"where"`
	// What is wrong there.
	What string `json:"what"`
	// Mend says what to do; empty in a note.
	Mend string `json:"mend,omitempty"`
}

func (f Finding) String() string {
	if f.Mend == "" {
		return f.Where + ": " + f.What
	}
	return f.Where + ": " + f.What + ": " + f.Mend
}

// Result of one check.
type Result struct {
	Check Check `json:"check"`
	// Looked at so many of Of.
	Looked int    `json:"looked"`
	Of     string `json:"of"`
	// Findings fail the verification; Notes are worth knowing and fail nothing.
	Findings []Finding `json:"findings"`
	Notes    []Finding `json:"notes"`
}

// Report of one machine.
type Report struct {
	Machine string `json:"machine"`
	Digest  string `json:"digest"`
	// States and Transitions that the machine declares, and Facts of the domain it was judged over.
	States      int      `json:"states"`
	Transitions int      `json:"transitions"`
	Facts       int      `json:"facts"`
	Results     []Result `json:"results"`
}

// Findings of all checks.
func (r *Report) Findings() int {
	n := 0
	for i := range r.Results {
		n += len(r.Results[i].Findings)
	}
	return n
}

// String is the report for a person: a table, then what was found. notes adds what is only worth knowing.
func (r *Report) String() string { return r.Text(false) }

// Text is the report for a person.
func (r *Report) Text(notes bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s@sha256:%s: %d states, %d transitions, ", r.Machine, r.Digest, r.States, r.Transitions)
	if r.Facts == 0 {
		b.WriteString("no domain of facts: its guards are judged by name\n")
	} else {
		fmt.Fprintf(&b, "%d facts\n", r.Facts)
	}
	for i := range r.Results {
		one := &r.Results[i]
		verdict := "ok"
		if n := len(one.Findings); n > 0 {
			verdict = counted(n, "finding")
		}
		line := fmt.Sprintf("  %-9s %6d %-30s %s", one.Check, one.Looked, one.Of, verdict)
		if n := len(one.Notes); n > 0 {
			line += ", " + counted(n, "note")
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for i := range r.Results {
		one := &r.Results[i]
		for _, f := range one.Findings {
			fmt.Fprintf(&b, "\n  %s: %s\n    %s\n    to mend: %s\n", one.Check, f.Where, f.What, f.Mend)
		}
		for _, f := range one.Notes {
			if notes {
				fmt.Fprintf(&b, "\n  note, %s: %s\n    %s\n", one.Check, f.Where, f.What)
			}
		}
	}
	return b.String()
}

func counted(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
