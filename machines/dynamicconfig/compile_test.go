package dynamicconfig_test

import (
	"testing"

	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/machinetest"
)

func TestDefinitionCompiles(t *testing.T) { machinetest.Compiled(t, dynamicconfig.Definition()) }

func TestDefinitionVerifies(t *testing.T) {
	machinetest.Compile(t, dynamicconfig.Definition(), dynamicconfig.Domain())
}

func TestFactsSurviveAJournal(t *testing.T) {
	machinetest.SurviveJournal(t, dynamicconfig.Definition(), []struct{}{{}}, nil, dynamicconfig.Domain())
}
