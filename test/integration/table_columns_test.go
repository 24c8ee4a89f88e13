package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
)

// plain is a subject without reservations, of which only the name matters here.
type plain struct{ Subject }

// TestTableOfADeletion checks that a deletion is shown only in states in which something was to be released.
func TestTableOfADeletion(t *testing.T) {
	results := &table{
		shown:  map[string]bool{cell("m", "Held", lawDeletion): true, cell("m", "Both", lawDeletion): true},
		vacant: map[string]bool{cell("m", "Empty", lawDeletion): true, cell("m", "Both", lawDeletion): true},
	}
	type got struct {
		Mark    string
		Missing bool
	}
	for state, want := range map[string]got{
		"Held": {"yes", false}, "Empty": {"-", false}, "Both": {"yes", false}, "Never": {"?", true},
	} {
		t.Run(state, func(t *testing.T) {
			line, missing := results.row(plain{}, "m", machines.GraphState{Name: state, OnlyDeletion: true})
			columns := strings.Fields(line)
			if diff := cmp.Diff(want, got{columns[len(columns)-1], len(missing) > 0}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
