package noderoll_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// TestFactsSurviveAJournal: for every fact of the domain, every guard gives the same verdict after the facts were written to a
// journal and read again.
func TestFactsSurviveAJournal(t *testing.T) {
	def, domain, seen := noderoll.Definition(), noderoll.Domain(), 0
	answers := func(f *noderoll.Facts, m roll.Data) (out []transitions.Verdict) {
		for i := range def.Transitions {
			row := &def.Transitions[i]
			if row.Choose != nil {
				v, _ := row.Choose.Pick(f, m)
				out = append(out, v)
				continue
			}
			out = append(out, row.When.Verdict(f, m))
		}
		return out
	}
	domain.Each(func(f *noderoll.Facts, name func() string) {
		seen++
		text, err := json.Marshal(f)
		var back noderoll.Facts
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil {
			t.Fatal(name(), err)
		}
		for _, data := range []roll.Data{roll.NoNode(), {Node: 0}} {
			if diff := cmp.Diff(answers(f, data), answers(&back, data)); diff != "" {
				t.Fatalf("%s (-was +is):\n%s", name(), diff)
			}
		}
	})
	if seen < 100 {
		t.Errorf("only %d facts", seen)
	}
}
