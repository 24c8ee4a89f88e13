package machinetest

import (
	"testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/verification"
)

// Compile compiles the definition and verifies the machine, over the domains if there are any. A structural defect ends the test.
func Compile[F, D, E any](t testing.TB, definition machines.Definition[F, D, E], domains ...domain.Domain[F, D]) *machines.Machine[F, D, E] {
	t.Helper()
	machine, err := machines.Compile(definition)
	if err != nil {
		t.Fatal(err)
	}
	Verify(t, machine, domains...)
	return machine
}

// Verify checks the machine as a whole, over the domains if there are any, and fails on every finding; see package
// verification.
func Verify[F, D, E any](t testing.TB, machine *machines.Machine[F, D, E], domains ...domain.Domain[F, D]) {
	t.Helper()
	report := verification.Machine(machine, domains...)
	for i := range report.Results {
		for _, f := range report.Results[i].Findings {
			t.Errorf("%s: %s", report.Results[i].Check, f)
		}
	}
	if !t.Failed() {
		t.Log(report.Text(true))
	}
}
