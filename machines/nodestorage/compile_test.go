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
	return machinetest.Compiled(t, nodestorage.Definition())
}

func TestDefinitionCompiles(t *testing.T) { compiled(t) }

func TestDefinitionVerifies(t *testing.T) { machinetest.Verify(t, compiled(t), nodestorage.Domain()) }

func TestFactsSurviveAJournal(t *testing.T) {
	machinetest.SurviveJournal(t, nodestorage.Definition(), []roll.Data{roll.NoNode(), {Node: 0}}, nil, nodestorage.Domain())
}
