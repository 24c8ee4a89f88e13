package connectoroffsets_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/machines/machinetest"
)

func compiled(t *testing.T) *machines.Machine[connectoroffsets.Facts, connectoroffsets.Data, connectoroffsets.Effect] {
	t.Helper()
	return machinetest.Compiled(t, connectoroffsets.Definition())
}

func TestDefinitionCompiles(t *testing.T) { compiled(t) }

func TestDefinitionVerifies(t *testing.T) {
	machinetest.Verify(t, compiled(t), connectoroffsets.Domain())
}

func TestFactsSurviveAJournal(t *testing.T) {
	machinetest.SurviveJournal(t, connectoroffsets.Definition(), []connectoroffsets.Data{{}}, nil, connectoroffsets.Domain())
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
