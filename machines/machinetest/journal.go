package machinetest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/transitions"
)

// SurviveJournal checks that decisions can be replayed: after facts were written to a journal and read again, every guard of the
// definition gives the same verdict, with each of the data. restore gives the facts that were read what a journal does not contain,
// such as a table of versions; nil if it contains all. The test fails if the domains have no facts.
func SurviveJournal[F, D, E any](t testing.TB, definition machines.Definition[F, D, E], data []D, restore func(read, written *F), domains ...domain.Domain[F, D]) {
	t.Helper()
	seen := 0
	for i := range domains {
		domains[i].Each(func(written *F, name func() string) {
			seen++
			read := new(F)
			text, err := json.Marshal(written)
			if err == nil {
				err = json.Unmarshal(text, read)
			}
			if err != nil {
				t.Fatalf("%s: %s", name(), err)
			}
			if restore != nil {
				restore(read, written)
			}
			for _, d := range data {
				if diff := cmp.Diff(verdicts(&definition, written, d), verdicts(&definition, read, d)); diff != "" {
					t.Fatalf("%s (-written +read):\n%s", name(), diff)
				}
			}
		})
	}
	if seen == 0 {
		t.Error("there are no facts")
	}
}

// verdicts returns the verdicts of all guards of the transitions.
func verdicts[F, D, E any](definition *machines.Definition[F, D, E], facts *F, data D) []transitions.Verdict {
	out := make([]transitions.Verdict, len(definition.Transitions))
	for i := range definition.Transitions {
		if row := &definition.Transitions[i]; row.Choose != nil {
			out[i], _ = row.Choose.Pick(facts, data)
		} else {
			out[i] = row.When.Verdict(facts, data)
		}
	}
	return out
}
