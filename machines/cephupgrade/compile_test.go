package cephupgrade_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/transitions"
)

func compiled(t *testing.T) *machines.Machine[cephupgrade.Facts, cephupgrade.Data, cephupgrade.Effect] {
	t.Helper()
	machine, err := machines.Compile(cephupgrade.Definition())
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

func verified(t *testing.T) domain.Domain[cephupgrade.Facts, cephupgrade.Data] {
	t.Helper()
	d, err := cephupgrade.Domain()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDefinitionVerifies(t *testing.T) {
	machinetest.Verify(t, compiled(t), verified(t))
}

// TestFactsSurviveAJournal checks that every guard gives the same verdict after the facts were written to a journal and read again.
// The table of releases is the operator's and not the journal's.
func TestFactsSurviveAJournal(t *testing.T) {
	definition, facts, seen := cephupgrade.Definition(), verified(t), 0
	data := cephupgrade.Data{Step: order.Step{Kind: order.Replace, Daemon: ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}}}
	answers := func(f *cephupgrade.Facts) (out []transitions.Verdict) {
		for i := range definition.Transitions {
			if row := &definition.Transitions[i]; row.Choose != nil {
				verdict, _ := row.Choose.Pick(f, data)
				out = append(out, verdict)
			} else {
				out = append(out, row.When.Verdict(f, data))
			}
		}
		return out
	}
	facts.Each(func(f *cephupgrade.Facts, name func() string) {
		seen++
		text, err := json.Marshal(f)
		back := cephupgrade.Facts{}
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil {
			t.Fatal(name(), err)
		}
		back.Spec.Table = f.Spec.Table
		if diff := cmp.Diff(answers(f), answers(&back)); diff != "" {
			t.Fatalf("%s (-was +is):\n%s", name(), diff)
		}
	})
	if seen < 100 {
		t.Errorf("only %d facts", seen)
	}
}
