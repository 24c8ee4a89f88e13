package nodestorage_test

import (
	"testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
)

func compiled(t *testing.T) *machines.Machine[nodestorage.Facts, roll.Data, nodestorage.Effect] {
	t.Helper()
	machine, err := machines.Compile(nodestorage.Definition())
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

func TestDefinitionVerifies(t *testing.T) { machinetest.Verify(t, compiled(t), nodestorage.Domain()) }

func TestFactsSurviveAJournal(t *testing.T) {
	machinetest.SurviveJournal(t, nodestorage.Definition(), []roll.Data{roll.NoNode(), {Node: 0}}, nil, nodestorage.Domain())
}
