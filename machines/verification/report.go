// Package verification checks a machine as a whole, beyond what Compile rejects: its declared graph, and its guards over a
// finite domain of facts. It runs no action and needs no object.
//
// It checks of the graph that every state leads to a Rest, that no loop runs without a change of the actual state, that a
// changed target is evaluated wherever it is observed, and that held resources are released on every path. Over each facts of
// the domain it reports which transitions of a state say yes together, where none does although none is awaited, and whether
// the lifecycle comes to rest while the facts stay the same.
//
// Without a domain, guards are judged by their names alone: any guard may say yes or no, but one guard gives the same answer
// wherever it is used.
package verification

import (
	"fmt"
	"strings"
)

// Check is one property that is checked.
type Check string

// The checks, in the order of a report.
const (
	// Declaration: nothing in it is legal and probably a mistake. What only costs time is a note.
	Declaration Check = "declared"
	// DeadEnd: declared edges lead from every state to a Rest or a planned Hold.
	DeadEnd Check = "dead-end"
	// Livelock: no edges form a loop without a wait or progress.
	Livelock Check = "livelock"
	// Overlap: which transitions of a state say yes together.
	Overlap Check = "overlap"
	// Gap: a lifecycle that stays in a state shows what it waits for.
	Gap Check = "gap"
	// Target: a changed target is evaluated in every state that is not at rest.
	Target Check = "target"
	// Release: held resources are released on every path.
	Release Check = "release"
	// Coverage: the domain makes each transition say yes. A transition that it does not reach was not checked.
	Coverage Check = "coverage"
)

// Finding is one defect, or, as a note, an observation that needs no change.
type Finding struct {
	// Where names the state, transition or cycle.
	Where string `json:"where"`
	// What is wrong.
	What string `json:"what"`
	// Remedy is what to change; empty in a note.
	Remedy string `json:"remedy,omitempty"`
}

func (f Finding) String() string {
	if f.Remedy == "" {
		return f.Where + ": " + f.What
	}
	return f.Where + ": " + f.What + ": " + f.Remedy
}

// Result of one check.
type Result struct {
	Check Check `json:"check"`
	// Looked is the number of the things named by Of that were checked.
	Looked int    `json:"looked"`
	Of     string `json:"of"`
	// Findings fail the verification. Notes do not.
	Findings []Finding `json:"findings"`
	Notes    []Finding `json:"notes"`
}

// Report of one machine.
type Report struct {
	Machine string `json:"machine"`
	Digest  string `json:"digest"`
	// States and Transitions are what the machine declares. Facts is the number of facts in the domains.
	States      int      `json:"states"`
	Transitions int      `json:"transitions"`
	Facts       int      `json:"facts"`
	Results     []Result `json:"results"`
}

// Findings returns the number of findings of all checks.
func (r *Report) Findings() int {
	n := 0
	for i := range r.Results {
		n += len(r.Results[i].Findings)
	}
	return n
}

// String formats the report as a table, followed by the findings.
func (r *Report) String() string { return r.Text(false) }

// Text formats the report as String does. With notes it also contains the notes.
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
			fmt.Fprintf(&b, "\n  %s: %s\n    %s\n    remedy: %s\n", one.Check, f.Where, f.What, f.Remedy)
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
