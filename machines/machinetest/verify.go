package machinetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/verification"
)

// Compiled compiles the definition and fails unless its warnings are exactly those that are accepted. A structural defect ends the test.
func Compiled[F, D, E any](t testing.TB, definition machines.Definition[F, D, E], accepted ...string) *machines.Machine[F, D, E] {
	t.Helper()
	machine, err := machines.Compile(definition)
	if err != nil {
		t.Fatal(err)
	}
	var warnings []string
	for _, w := range machine.Warnings() {
		warnings = append(warnings, w.Error())
	}
	if diff := cmp.Diff(accepted, warnings, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	return machine
}

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
