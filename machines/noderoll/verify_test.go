package noderoll_test

import (
	"testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/noderoll"
)

func TestDefinitionVerifies(t *testing.T) {
	machine, err := machines.Compile(noderoll.Definition())
	if err != nil {
		t.Fatal(err)
	}
	machinetest.Verify(t, machine, noderoll.Domain())
}
