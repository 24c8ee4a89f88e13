package machines

import (
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/transitions"
)

func TestActRecordsBeforeItsEffects(t *testing.T) {
	records := func(entries ...RecordEntry) func(*toyDefinition) {
		return func(d *toyDefinition) {
			d.States[restarting].Action.Records = func(*toyFacts, toyData) []RecordEntry { return entries }
		}
	}
	started := RecordEntry{Record: "started", Key: "b", Value: "2"}
	type want struct {
		Effects []string
		Records []RecordEntry
		Err     string
	}
	for name, tc := range map[string]struct {
		change func(*toyDefinition)
		facts  toyFacts
		want   want
	}{
		"an action without records":    {facts: half(), want: want{Effects: []string{"restart b"}}},
		"records and effects together": {change: records(started), facts: half(), want: want{Effects: []string{"restart b"}, Records: []RecordEntry{started}}},
		"no effect, no record": {
			change: func(d *toyDefinition) {
				records(started)(d)
				d.States[restarting].Action.Effects = func(*toyFacts, toyData) []toyEffect { return nil }
			},
			facts: half(),
		},
		"a precondition that is unknown": {change: records(started), facts: with(half(), func(f *toyFacts) { f.Sync = transitions.Unreadable[bool](errDown) })},
		"a record that is not declared": {
			change: records(RecordEntry{Record: "stopped", Key: "b", Value: "2"}), facts: half(),
			want: want{Err: `machine toy-version: action restart records "stopped", which is not declared: declare it in Records`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := evaluate(mustCompile(t, changed(tc.change)), at("Restarting", map[string]string{"node": "b"}), tc.facts, "sync").Act()
			got := want{Effects: a.Effects, Records: a.Records}
			if a.Err != nil {
				got.Err = a.Err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecordOfReadsWhatItWrote(t *testing.T) {
	levels := RecordOf[int]{Record: Record{Name: "level"}, Encode: strconv.Itoa, Decode: strconv.Atoi}
	entry := levels.Entry("a", 25)
	if diff := cmp.Diff(RecordEntry{Record: "level", Key: "a", Value: "25"}, entry); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	texts := map[string]string{entry.Key: entry.Value, "broken": "x"}
	if value, found, err := levels.Read(texts, "a"); value != 25 || !found || err != nil {
		t.Errorf("read %d, %v, %v", value, found, err)
	}
	if _, found, err := levels.Read(texts, "b"); found || err != nil {
		t.Errorf("found a key that was never written: %v", err)
	}
	if _, found, err := levels.Read(texts, "broken"); found || !errors.Is(err, strconv.ErrSyntax) {
		t.Errorf("read a text that cannot be decoded: %v", err)
	}
}
