// Package search contains what the explorations of test/proof have in common: the limits of a search, the edges that none of several
// searches has taken, and whether a search finds a defect that was seeded.
package search

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
)

const statesVariable = "DETENT_PROOF_STATES"

// States returns the number of states that `make proof` requests of each search, and false if an ordinary test searches a sample.
func States(t *testing.T) (n int, requested bool) {
	t.Helper()
	text := os.Getenv(statesVariable)
	if text == "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("reading %s: %v", statesVariable, err)
	}
	return n, true
}

// Untaken returns the edges of a machine that none of the reports has taken. All reports are of one kind.
func Untaken(machine string, reports []*explore.Report) (edges []string) {
	for _, e := range reports[0].Unfired {
		name, ours := strings.CutPrefix(e, machine+": ")
		if ours && !slices.ContainsFunc(reports, func(r *explore.Report) bool { return !slices.Contains(r.Unfired, e) }) {
			edges = append(edges, name)
		}
	}
	return edges
}

// PrintUntaken prints the edges of a machine that none of the reports has taken.
func PrintUntaken(machine string, reports []*explore.Report) {
	for _, e := range Untaken(machine, reports) {
		_, _ = fmt.Fprintln(os.Stdout, "not taken:", e)
	}
}

// Finds fails unless the search of a subject with a seeded defect finds the violation whose text contains found.
func Finds[O lifecycle.Object, S, E any](t *testing.T, subject explore.Subject[O, S, E], options explore.Options, found string) {
	t.Helper()
	options.Until = found
	report, err := explore.Explore(t.Context(), subject, options)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(report.Violations, func(v explore.Violation) bool { return strings.Contains(v.What, found) }) {
		t.Errorf("nothing says %q: %s, %v", found, report, report.Violations)
	}
}
