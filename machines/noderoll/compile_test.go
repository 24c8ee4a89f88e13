package noderoll_test

import (
	"testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/noderoll"
)

func TestDefinitionCompiles(t *testing.T) {
	machine, err := machines.Compile(noderoll.Definition())
	if err != nil {
		t.Fatal(err)
	}
	if w := machine.Warnings(); len(w) > 0 {
		t.Fatal(w)
	}
}
