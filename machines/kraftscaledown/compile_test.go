package kraftscaledown_test

import (
	"testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/roll"
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

func TestFactsSurviveAJournal(t *testing.T) {
	machinetest.SurviveJournal(t, kraftscaledown.Definition(), []roll.Data{roll.NoNode(), {Node: 4}}, nil, kraftscaledown.Domain(), kraftscaledown.DrainDomain())
}
