// Package machinetest tests machines with tables of rows: facts in, transition out. It needs no object, client or cluster.
//
// Run checks each row as a subtest, and then the coverage of the machine. A row counts only if it detects a defect. For every
// edge a row must fail when the edge is missing. For every guard, and each leaf within All and Any, a row must fail when it
// answers the opposite. For two edges of one state whose order can matter, a row must fail when they exchange places. The edges
// of the framework count as well: inferring the state, a changed target, a failed precondition and migrations, and the answers
// of Invariant and Precondition. A guard with needs requires a row in which it is unknown.
//
// Run also detects guards that read facts without declaring their needs, and checks properties of the machine on the facts of
// the rows: the invariant of an inferred state holds, an invariant holds wherever an exit says yes, data survives encoding and
// decoding, and the same facts have the same outcome.
package machinetest

import (
	"fmt"
	"os"
	"testing"

	"github.com/detent-dev/detent/machines"
)

// Run checks the table against the machine. It fails on rows that do not hold, on missing coverage, and on broken properties.
// It prints one line of coverage.
func Run[F, D, E any](t *testing.T, machine *machines.Machine[F, D, E], rows []Row[F, D, E]) {
	t.Helper()
	report := Examine(machine, rows)
	for i := range rows {
		t.Run(rows[i].Name, func(t *testing.T) {
			for _, text := range report.Rows[rows[i].Name] {
				if rows[i].Reason != "" {
					text = rows[i].Reason + ": " + text
				}
				t.Error(text)
			}
		})
	}
	for _, problem := range report.Problems {
		t.Error(problem)
	}
	if len(report.Rows) > 0 {
		t.Logf("transition coverage: %s is computed once all rows hold", report.Machine)
		return
	}
	// On a separate line, so that the lines of all machines can be collected from the output of many packages.
	_, _ = fmt.Fprintln(os.Stdout, report)
}
