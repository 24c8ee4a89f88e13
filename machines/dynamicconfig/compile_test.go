package dynamicconfig_test

import (
	"testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/machinetest"
)

func TestDefinitionCompiles(t *testing.T) {
	machine, err := machines.Compile(dynamicconfig.Definition())
	if err != nil {
		t.Fatal(err)
	}
	if w := machine.Warnings(); len(w) > 0 {
		t.Fatal(w)
	}
}

func TestDefinitionVerifies(t *testing.T) {
	machinetest.Compile(t, dynamicconfig.Definition(), dynamicconfig.Domain())
}

func TestFactsSurviveAJournal(t *testing.T) {
	machinetest.SurviveJournal(t, dynamicconfig.Definition(), []struct{}{{}}, nil, dynamicconfig.Domain())
}
