package keep_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
)

const (
	source = "a->b.MirrorSourceConnector"
	entry  = "a--b.MirrorSourceConnector.json"
)

// TestPut checks that the last three documents of a connector are kept, the newest under the name of an alter's entry, and that a document
// replaces that of the same request.
func TestPut(t *testing.T) {
	m := &corev1.ConfigMap{}
	for i := range 4 {
		keep.Put(m, source, keep.Document{ID: fmt.Sprintf("id-%d", i), Offsets: fmt.Sprintf(`{"offsets":[%d]}`, i), Requested: "{}"})
	}
	keep.Put(m, source, keep.Document{ID: "id-3", Offsets: `{"offsets":[4]}`, Requested: "{}"})
	want := map[string]string{
		entry: `{"offsets":[4]}`, "a--b.MirrorSourceConnector.1.json": `{"offsets":[2]}`, "a--b.MirrorSourceConnector.2.json": `{"offsets":[1]}`,
		"a--b.MirrorSourceConnector.requested.json": "{}",
	}
	if diff := cmp.Diff(want, m.Data); diff != "" {
		t.Error(diff)
	}
	got, found := keep.Of(m, source, "id-2")
	if diff := cmp.Diff(keep.Document{ID: "id-2", Offsets: `{"offsets":[2]}`}, got); !found || diff != "" {
		t.Error(found, diff)
	}
	if got, found := keep.Of(m, source, "id-3"); !found || got.Requested != "{}" {
		t.Error(got, found)
	}
	for _, id := range []string{"id-0", ""} {
		if _, found := keep.Of(m, source, id); found {
			t.Errorf("%q is kept", id)
		}
	}
}

// TestPutMakesRoom checks that older documents, and then the body, make room for a large one.
func TestPutMakesRoom(t *testing.T) {
	large := strings.Repeat("x", 600<<10)
	m := &corev1.ConfigMap{}
	keep.Put(m, source, keep.Document{ID: "1", Offsets: large})
	keep.Put(m, source, keep.Document{ID: "2", Offsets: large, Requested: large})
	if len(m.Data) != 1 || m.Data[entry] != large {
		t.Errorf("%d documents", len(m.Data))
	}
	if _, problem := keep.Fits(m, source, `["`+large+`"]`, large, connectoroffsets.Alter); problem != nil {
		t.Error(problem)
	}
	_, problem := keep.Fits(m, "c->d.MirrorSourceConnector", `["`+large+`"]`, "", connectoroffsets.Reset)
	if problem == nil || !strings.Contains(problem.Message, "c->d.MirrorSourceConnector") || !strings.Contains(problem.Message, "Nothing was changed") {
		t.Error(problem)
	}
}

// TestEntry checks that a list is indented if it fits, compact if only that fits, and otherwise not written.
func TestEntry(t *testing.T) {
	if got, problem := keep.Entry(nil, source, `{"offsets":[]}`); got != "{\n  \"offsets\": []\n}\n" || problem != nil {
		t.Errorf("%q, %v", got, problem)
	}
	document := `{"offsets":[` + strings.TrimSuffix(strings.Repeat(`{"a":1},`, 80_000), ",") + `]}`
	if got, problem := keep.Entry(nil, source, document); got != document || problem != nil {
		t.Errorf("%d bytes, %v", len(got), problem)
	}
	other := &corev1.ConfigMap{Data: map[string]string{"mine": strings.Repeat("x", 500<<10), entry: strings.Repeat("y", 500<<10)}}
	_, problem := keep.Entry(other, source, document)
	if problem == nil || !strings.Contains(problem.Message, source) || !strings.Contains(problem.Message, "Nothing was written") {
		t.Error(problem)
	}
	if _, problem := keep.Entry(&corev1.ConfigMap{Data: map[string]string{entry: strings.Repeat("y", 1000<<10)}}, source, document); problem != nil {
		t.Errorf("its own old entry counts: %v", problem)
	}
}

// TestUndo checks that a body that was kept stays the entry until its request is released.
func TestUndo(t *testing.T) {
	record := connectoroffsets.Record{Operation: connectoroffsets.Alter, Digest: keep.Digest("old"), Phase: connectoroffsets.Sent}
	done := record
	done.Phase = connectoroffsets.Done
	ended := record
	ended.Phase = connectoroffsets.Ended
	released := done
	released.Released = true
	reset := record
	reset.Operation = connectoroffsets.Reset
	for name, tc := range map[string]struct {
		record connectoroffsets.Record
		want   string
	}{
		"under way": {record, "old"}, "done": {done, "old"}, "ended": {ended, "old"}, "done and released": {released, "new"}, "a reset": {reset, "new"}, "no record": {connectoroffsets.Record{}, "new"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &corev1.ConfigMap{Data: map[string]string{entry: "new", "a--b.MirrorSourceConnector.1.json": "old"}}
			keep.Undo(m, map[string]connectoroffsets.Record{source: tc.record})
			if got := m.Data[entry]; got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestRecords checks that records are found by the names of connectors, and that one that cannot be read is named.
func TestRecords(t *testing.T) {
	named := []kafkav1beta2.NamedConnector{{Name: source}, {Name: "c->d.MirrorSourceConnector"}}
	stored := &corev1.ConfigMap{Data: map[string]string{keep.Key(source): `{"id":"1","operation":"list","phase":"done"}`}}
	got, err := keep.Records(stored, named)
	if err != nil || got[source].ID != "1" || got[named[1].Name].ID != "" {
		t.Error(got, err)
	}
	stored.Data[keep.Key(source)] = "done"
	if _, err := keep.Records(stored, named); err == nil || !strings.Contains(err.Error(), "a--b.MirrorSourceConnector") {
		t.Error(err)
	}
	if got, err := keep.Records(nil, named); len(got) > 0 || err != nil {
		t.Error(got, err)
	}
}
