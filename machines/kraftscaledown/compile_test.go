package kraftscaledown_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

func compiled(t *testing.T) *machines.Machine[kraftscaledown.Facts, roll.Data, kraftscaledown.Effect] {
	t.Helper()
	machine, err := machines.Compile(kraftscaledown.Definition())
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

func TestDefinitionCompiles(t *testing.T) {
	if w := compiled(t).Warnings(); len(w) > 0 {
		t.Fatal(w)
	}
}

func TestDefinitionVerifies(t *testing.T) {
	machinetest.Verify(t, compiled(t), kraftscaledown.Domain(), kraftscaledown.DrainDomain())
}

// For every fact of the domain, every guard gives the same verdict after the facts were written to a journal and read again.
func TestFactsSurviveAJournal(t *testing.T) {
	def, seen := kraftscaledown.Definition(), 0
	answers := func(f *kraftscaledown.Facts, m roll.Data) (out []transitions.Verdict) {
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
	survives := func(f *kraftscaledown.Facts, name func() string) {
		seen++
		text, err := json.Marshal(f)
		var back kraftscaledown.Facts
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil {
			t.Fatal(name(), err)
		}
		for _, data := range []roll.Data{roll.NoNode(), {Node: 4}} {
			if diff := cmp.Diff(answers(f, data), answers(&back, data)); diff != "" {
				t.Fatalf("%s (-was +is):\n%s", name(), diff)
			}
		}
	}
	for _, domain := range []domain.Domain[kraftscaledown.Facts, roll.Data]{kraftscaledown.Domain(), kraftscaledown.DrainDomain()} {
		domain.Each(survives)
	}
	if seen < 100 {
		t.Errorf("only %d facts", seen)
	}
}
