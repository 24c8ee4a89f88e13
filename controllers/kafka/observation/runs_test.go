package observation

import (
	"testing"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// A node counts for the disruption budget if its pod serves, or would serve were it there: a new one does not before its pod is created.
func TestNodesOfTheBudget(t *testing.T) {
	ran, fresh := record.Record{Version: "4.1.1"}, record.Record{}
	refused := Pod{Trouble: transitions.Problemf(roll.PodRefused, "cannot be created: exceeded quota")}
	for name, tc := range map[string]struct {
		node Node
		want bool
	}{
		"it has a pod":                                {node: Node{Pod: Pod{Exists: true}}, want: true},
		"only its id is committed":                    {node: Node{Wanted: true}},
		"it is recorded and not started yet":          {node: Node{Wanted: true, Recorded: true, Record: fresh}},
		"its first pod is being created":              {node: Node{Wanted: true, Recorded: true, Record: fresh, Entry: Entry{Exists: true}}, want: true},
		"its first pod is refused":                    {node: Node{Wanted: true, Recorded: true, Record: fresh, Entry: Entry{Exists: true}, Pod: refused}},
		"it ran, and its next pod is refused":         {node: Node{Wanted: true, Recorded: true, Record: ran, Entry: Entry{Exists: true}, Pod: refused}, want: true},
		"it ran, and its entry is lost":               {node: Node{Wanted: true, Recorded: true, Record: ran}, want: true},
		"it ran, leaves, and its next pod is refused": {node: Node{Recorded: true, Record: ran, Entry: Entry{Exists: true}, Pod: refused}, want: true},
		"it was stopped for its removal":              {node: Node{Recorded: true, Record: ran}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.node.runs(); got != tc.want {
				t.Errorf("counts: %t, want %t", got, tc.want)
			}
		})
	}
}
