package runtime_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/journal"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
	"github.com/detent-dev/detent/transitions"
)

type (
	modelMachine = machines.Machine[turnstile.Facts, turnstile.Data, turnstile.Effect]
	modelDef     = machines.Definition[turnstile.Facts, turnstile.Data, turnstile.Effect]
)

func model(t *testing.T) *modelMachine {
	t.Helper()
	machine, err := machines.Compile(turnstile.Definition())
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

// replay replays a journal against the machines of the turnstile.
func replay(t *testing.T, lines string, machine *modelMachine) journal.Report {
	t.Helper()
	lamp, err := machines.Compile(turnstile.LampDefinition())
	if err != nil {
		t.Fatal(err)
	}
	report, err := journal.Replay(strings.NewReader(lines), journal.Of(machine, nil), journal.Of(lamp, nil))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestJournalOfADeletionIsReplayed(t *testing.T) {
	var lines bytes.Buffer
	r := journalled(t, &lines)
	before := lines.Len()
	r.site(func(s *turnstile.Site) { s.SealErr = turnstile.ErrUnreachable })
	r.remove()
	r.until(turnstile.Unsealing, "Lit")
	r.quiet()
	r.site((*turnstile.Site).Release)
	r.untilGone()
	report := replay(t, lines.String()[before:], model(t))
	if report.Same != report.Lines || report.Lines < 4 || len(report.Differences)+len(report.Skipped) > 0 {
		t.Errorf("replayed by the build that wrote it:\n%s", &report)
	}
}

// journalled returns the journal of a change of model with all its transitions.
func journalled(t *testing.T, lines *bytes.Buffer) *rig {
	t.Helper()
	r := newRig(t, func(r *rig) { r.options.Journal = journal.NewWriter(lines, func(err error) { t.Error(err) }) })
	r.rest()
	r.spec(func(s *api.TurnstileSpec) { s.Model, s.Lamp = "B", "green" })
	r.rest()
	return r
}

func TestJournalOfARunIsReplayed(t *testing.T) {
	var lines bytes.Buffer
	r := journalled(t, &lines)
	report := replay(t, lines.String(), model(t))
	if report.Same != report.Lines || report.Lines < 15 || report.Objects != 1 || len(report.Differences)+len(report.Skipped)+len(report.Reshaped) > 0 {
		t.Errorf("replayed by the build that wrote it:\n%s", &report)
	}
	before := lines.Len()
	r.rest()
	r.advance(time.Hour)
	r.pass()
	if rest := lines.String()[before:]; strings.Count(rest, "\n") > 2 {
		t.Errorf("at rest the journal goes on:\n%s", rest)
	}
	for line := range strings.Lines(lines.String()) {
		if len(line) > journal.MaxLine {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

func TestJournalReplayReportsAChangedGuard(t *testing.T) {
	var lines bytes.Buffer
	journalled(t, &lines)
	mutant := model(t).Mutant(access.Key{}, func(d *modelDef) {
		for i := range d.Transitions {
			if row := &d.Transitions[i]; row.From == turnstile.AwaitingArm && row.Awaited {
				row.When = transitions.Guard[turnstile.Facts, turnstile.Data]{
					Name: "never", Doc: "never", Expected: "never",
					Evaluate: func(*turnstile.Facts, turnstile.Data) transitions.Verdict { return transitions.Deny("another build") },
				}
			}
		}
	})
	report := replay(t, lines.String(), mutant)
	if len(report.Differences) == 0 || report.Same+len(report.Differences) > report.Lines || report.Same == 0 {
		t.Fatalf("the mutant went unnoticed:\n%s", &report)
	}
	for _, d := range report.Differences {
		if d.Name != gate || d.Lifecycle != "model" || d.State != turnstile.AwaitingArm || d.Then == nil || d.Now != nil {
			t.Errorf("difference %+v", d)
		}
		if diff := cmp.Diff([]string{d.Then.Event + ": never says no (another build)"}, d.Why); diff != "" {
			t.Errorf("why (-want +got):\n%s", diff)
		}
	}
}

func TestJournalNotesCommittedDecisionsOnly(t *testing.T) {
	var lines bytes.Buffer
	r := newRig(t, func(r *rig) { r.options.Journal = journal.NewWriter(&lines, nil) })
	r.refuse = func(write string) error {
		if write == "status" {
			return errors.New("no")
		}
		return nil
	}
	if _, err := r.try(); err == nil {
		t.Fatal("the write was not refused")
	}
	if lines.Len() > 0 {
		t.Errorf("noted although nothing was written:\n%s", &lines)
	}
	r.refuse = nil
	r.pass()
	if !strings.Contains(lines.String(), `"event":"inferred"`) {
		t.Errorf("not noted although it was written:\n%s", &lines)
	}
}

// failing is a writer to a full disk.
type failing struct{ full bool }

func (f *failing) Write(p []byte) (int, error) {
	if f.full {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

func TestJournalWriteErrorsDelayNothing(t *testing.T) {
	disk, reports := &failing{full: true}, 0
	r := newRig(t, func(r *rig) { r.options.Journal = journal.NewWriter(disk, func(error) { reports++ }) })
	r.rest()
	if reports != 1 {
		t.Errorf("%d reports of one full disk", reports)
	}
}

// TestJournalOfTheContext shows which journal a reconcile writes to.
func TestJournalOfTheContext(t *testing.T) {
	for name, c := range map[string]struct{ own, ofContext, wantOwn, wantContext bool }{
		"none":                           {},
		"that of the context":            {ofContext: true, wantContext: true},
		"that of the options goes first": {own: true, ofContext: true, wantOwn: true},
	} {
		t.Run(name, func(t *testing.T) {
			var own, ofContext bytes.Buffer
			r := newRig(t, func(r *rig) {
				if c.own {
					r.options.Journal = journal.NewWriter(&own, nil)
				}
			})
			ctx := t.Context()
			if c.ofContext {
				ctx = lifecycle.WithJournal(ctx, journal.NewWriter(&ofContext, nil))
			}
			if _, err := r.Reconcile(ctx, reconcile.Request{NamespacedName: gateKey}); err != nil {
				t.Fatal(err)
			}
			if (own.Len() > 0) != c.wantOwn || (ofContext.Len() > 0) != c.wantContext {
				t.Errorf("%d bytes in the journal of the options, %d in that of the context", own.Len(), ofContext.Len())
			}
		})
	}
}
