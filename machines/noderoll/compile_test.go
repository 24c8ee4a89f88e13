package noderoll_test

import (
	"testing"

	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/roll"
)

func TestDefinitionCompiles(t *testing.T) { machinetest.Compiled(t, noderoll.Definition()) }

func TestDefinitionVerifies(t *testing.T) {
	machinetest.Compile(t, noderoll.Definition(), noderoll.Domain())
}

func TestFactsSurviveAJournal(t *testing.T) {
	machinetest.SurviveJournal(t, noderoll.Definition(), []roll.Data{roll.NoNode(), {Node: 0}}, nil, noderoll.Domain())
}
