package plan_test

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/plan"
	kafkakind "github.com/detent-dev/detent/kinds/kafka"
	"github.com/detent-dev/detent/kinds/kafka/planning"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/runtime/journal"
	"github.com/detent-dev/detent/transitions"
)

// journalOf returns the decisions of the operator on the input of a file.
func journalOf(t *testing.T, file string) (*bytes.Buffer, *versions.Table) {
	t.Helper()
	found, err := objects.Read([]string{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := readInput(kafkas(), found)
	if err != nil {
		t.Fatal(err)
	}
	lines := &bytes.Buffer{}
	_, err = plan.Make(context.Background(), in, plan.Options{
		OperatorVersion: "0.0.0", Journal: journal.NewWriter(lines, func(err error) { t.Error(err) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	section, ok := in.World.Sections["Kafka"].(*planning.World)
	if !ok {
		t.Fatalf("section %T", in.World.Sections["Kafka"])
	}
	return lines, section.Table
}

// TestJournalReplaysDecisions: a replay of the journal of the Kafka controllers gives the same decisions.
func TestJournalReplaysDecisions(t *testing.T) {
	for _, name := range []string{"upgrade", "downgrade", "downgrade-refused", "fresh-install", "bad-image", "in-progress", "isr-at-risk"} {
		t.Run(name, func(t *testing.T) {
			lines, table := journalOf(t, filepath.Join("testdata/cases", name+".yaml"))
			all, err := kafkakind.Machines(table)
			if err != nil {
				t.Fatal(err)
			}
			var replays []journal.Machine
			for i := range all {
				replays = append(replays, all[i].Replay)
			}
			report, err := journal.Replay(lines, replays...)
			if err != nil {
				t.Fatal(err)
			}
			if report.Lines == 0 || report.Same != report.Lines || len(report.Reshaped) > 0 {
				t.Errorf("replayed by the build that wrote it:\n%s", &report)
			}
		})
	}
}

// TestJournalReportsAChangedGuard: a build that treats every ready node as in sync would continue where this one waits.
func TestJournalReportsAChangedGuard(t *testing.T) {
	lines, table := journalOf(t, filepath.Join("testdata/cases", "upgrade.yaml"))
	machine, err := machines.Compile(kafkaversion.Definition())
	if err != nil {
		t.Fatal(err)
	}
	mutant := machine.Mutant(access.Key{}, func(d *machines.Definition[kafkaversion.Facts, roll.Data, kafkaversion.Effect]) {
		for i := range d.Transitions {
			if row := &d.Transitions[i]; row.Event == "in-sync" {
				row.When = transitions.Always[kafkaversion.Facts, roll.Data]()
			}
		}
	})
	report, err := journal.Replay(lines, journal.Of(mutant, func(f *kafkaversion.Facts) { f.Situation.Table = table }))
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Differences) == 0 {
		t.Fatalf("the mutant went unnoticed:\n%s", &report)
	}
	for _, d := range report.Differences {
		if d.State != roll.AwaitingInSync || d.Then != nil || d.Now == nil || d.Now.Event != "in-sync" || len(d.Why) != 1 {
			t.Errorf("difference %+v", d)
		}
	}
}
