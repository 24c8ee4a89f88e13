package explore

import (
	"fmt"
	"os"
	"testing"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// Run explores the subject and fails on everything that is wrong, with its story: broken invariants, effects that might not be,
// states that never come to rest, and edges that never fired although the search was complete. It prints one line.
func Run[O lifecycle.Object, V, E any](t *testing.T, subject Subject[O, V, E], options Options) *Report {
	t.Helper()
	report, err := Explore(t.Context(), subject, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Error(v)
	}
	if report.Complete {
		for _, e := range report.Unfired {
			t.Errorf("the edge %s never fired, whatever happened: let something happen that it is for, mend its guard, or drop it", e)
		}
	}
	// On a line of its own, so that the lines of all subjects can be gathered from the output of many packages.
	_, _ = fmt.Fprintln(os.Stdout, report)
	return report
}
