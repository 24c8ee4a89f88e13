package campaign

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// Run injects every fault into a kind, as ModeOf selects them, on its own control plane, and fails on every defect. It is all
// that a test of a user's machine needs.
func Run[O lifecycle.Object, S, E any](t *testing.T, kind Kind[O, S, E]) {
	t.Helper()
	mode, err := ModeOf(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	s, err := kind.Subject()
	if err != nil {
		t.Fatal(err)
	}
	if !mode.Takes(s.Name) {
		t.Skipf("DETENT_PROOF_ONLY does not ask for %s", s.Name)
	}
	log.SetLogger(logr.Discard())
	environment, err := NewEnvironment(t.Context(), t.Output(), nil, s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := environment.Close(); err != nil {
			t.Error(err)
		}
	}()
	Inject(t, environment, s, mode)
}

// Inject runs the plans of a mode on a subject and prints the table. It fails on defects, on faults that were never injected,
// and on places that were not found.
func Inject(t *testing.T, environment *Environment, s *Subject, mode Mode) {
	t.Helper()
	c := &Campaign{Environment: environment, Subject: mode.abridge(s), AtOnce: mode.atOnce, Log: t.Logf}
	if err := c.Refer(t.Context(), mode.references(len(c.Subject.Changes))); err != nil {
		t.Fatal(err)
	}
	plans, of := mode.plans(c)
	t.Logf("%d of %d plans, seed %d", len(plans), of, mode.seed)
	if mode.whole && of < s.Plans { // a sample finds its places with fewer runs
		t.Errorf("there are %d plans, at least %d are known to be: places go unnoticed", of, s.Plans)
	}
	if len(plans) == 0 {
		t.Fatalf("none of the %d plans contains %q: name in DETENT_PROOF_PLAN a part of one as the report prints it", of, mode.plan)
	}
	report, err := c.Run(t.Context(), plans)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the table of faults:\n\n%s", report.Table())
	if err := report.Err(); err != nil {
		t.Error(err)
	}
}
