package connectoroffsets_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/transitions"
)

func compiled(t *testing.T) *machines.Machine[connectoroffsets.Facts, connectoroffsets.Data, connectoroffsets.Effect] {
	t.Helper()
	machine, err := machines.Compile(connectoroffsets.Definition())
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

func TestDefinitionCompiles(t *testing.T) {
	if w := compiled(t).Warnings(); len(w) > 0 {
		t.Fatal(w)
	}
}

func TestDefinitionVerifies(t *testing.T) {
	machinetest.Verify(t, compiled(t), connectoroffsets.Domain())
}

// TestFactsSurviveAJournal checks that every guard gives the same verdict after the facts were written to a journal and read again.
func TestFactsSurviveAJournal(t *testing.T) {
	definition, seen := connectoroffsets.Definition(), 0
	answers := func(f *connectoroffsets.Facts) (out []transitions.Verdict) {
		for i := range definition.Transitions {
			if row := &definition.Transitions[i]; row.Choose != nil {
				verdict, _ := row.Choose.Pick(f, connectoroffsets.Data{})
				out = append(out, verdict)
			} else {
				out = append(out, row.When.Verdict(f, connectoroffsets.Data{}))
			}
		}
		return out
	}
	for _, part := range [][]row{idle(), accepting(), listing(), stopping(), applying(), verifying(), finishing()} {
		for i := range part {
			f := &part[i].Facts
			seen++
			text, err := json.Marshal(f)
			var back connectoroffsets.Facts
			if err == nil {
				err = json.Unmarshal(text, &back)
			}
			if err != nil {
				t.Fatal(part[i].Name, err)
			}
			if diff := cmp.Diff(answers(f), answers(&back)); diff != "" {
				t.Errorf("%s (-was +is):\n%s", part[i].Name, diff)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d facts", seen)
	}
}

// TestReadRecord checks that what an action records is read again, and that another text is refused.
func TestReadRecord(t *testing.T) {
	want := connectoroffsets.Record{
		ID: "5f2c91a0", Operation: connectoroffsets.Alter, Digest: "d1", Phase: connectoroffsets.Sent, Sends: 2,
		SentAt: machinetest.Start, Listed: "d9", DoneAt: machinetest.Start,
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"a": string(text), "b": "done"}
	got, err := connectoroffsets.ReadRecord(texts, "a")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got, err := connectoroffsets.ReadRecord(texts, "c"); err != nil || got != (connectoroffsets.Record{}) {
		t.Errorf("a connector without a record: %v, %v", got, err)
	}
	if _, err := connectoroffsets.ReadRecord(texts, "b"); err == nil {
		t.Error("a text that is no record is read")
	}
}

// TestRecordHoldsStopped checks that a connector is not resumed while a change may be executed.
func TestRecordHoldsStopped(t *testing.T) {
	want := map[connectoroffsets.Phase]bool{
		"": false, connectoroffsets.Accepted: false, connectoroffsets.Sent: true, connectoroffsets.Done: false, connectoroffsets.Ended: false,
	}
	for phase, holds := range want {
		if got := (connectoroffsets.Record{Phase: phase}).HoldsStopped(); got != holds {
			t.Errorf("%q: %t", phase, got)
		}
	}
}
