// Package machinetest tests machines by tables: facts in, edge out. It knows no object, client or cluster.
//
// Run checks each row as a subtest, then how well the table covers the machine. A row counts only if it would notice: for
// every edge there must be a row that fails when the edge is missing, for every guard one that fails when the guard (each
// leaf within All and Any) answers the opposite, and for two edges of one state whose order can matter one that fails when
// they change places. What the framework does by itself counts as well: finding the state, a changed target, turning back,
// migrations, and what While and Before answer. A guard that costs a call owes a row in which it cannot be answered.
//
// Run also finds guards that read facts they did not declare, and holds the machine against its laws in the worlds of the
// rows: a located state is never one that its own While denies, a While never denies where an exit says yes, memos come
// back as they were, and the same facts lead to the same outcome.
package machinetest

import (
	"fmt"
	"os"
	"testing"

	"github.com/detent-dev/detent/machines"
)

// Run runs the table against the machine and fails on rows that do not hold, on what the table does not cover, and on
// broken laws. It prints one line of coverage.
func Run[F, M, E any](t *testing.T, machine *machines.Machine[F, M, E], rows []Row[F, M, E]) {
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
		t.Logf("transition coverage: %s is judged once all rows hold", report.Machine)
		return
	}
	// On a line of its own, so that the lines of all machines can be gathered from the output of many packages.
	_, _ = fmt.Fprintln(os.Stdout, report)
}
