package record

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"k8s.io/apimachinery/pkg/types"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func full() Record {
	return Record{
		ID: 3, Pool: "brokers", Roles: []kafkav1beta2.NodeRole{kafkav1beta2.RoleController, kafkav1beta2.RoleBroker}, ClusterID: "abc",
		Version: "4.1.1", Format: FormatDone, Volumes: []int32{0, 2}, Replaced: []types.UID{"pod", "claim"}, Metadata: "4.1-IV1", Leaving: true, Stop: true, Draining: 7, SnapshotInterval: 10 * time.Minute, Resource: "uid",
		Levels: map[string]Level{"metadata.version": {Highest: 27, Finalized: 25, LoweredAt: noon}, "group.version": {Highest: 1, Finalized: 1}},
	}
}

func TestRecordEncodeAndDecode(t *testing.T) {
	for name, want := range map[string]Record{
		"everything set":    full(),
		"as little as ever": {ID: 0, Pool: "p", Format: FormatAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(want.Encode())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if !want.Equal(&got) {
				t.Error("the record is not equal to itself after a round trip")
			}
		})
	}
}

func TestRecordEqualSeesEveryField(t *testing.T) {
	base := full()
	for name, change := range map[string]func(*Record){
		"id": func(r *Record) { r.ID++ }, "pool": func(r *Record) { r.Pool = "x" }, "roles": func(r *Record) { r.Roles = r.Roles[:1] },
		"cluster id": func(r *Record) { r.ClusterID = "x" }, "version": func(r *Record) { r.Version = "x" },
		"format": func(r *Record) { r.Format = FormatAllowed }, "volumes": func(r *Record) { r.Volumes = r.Volumes[:1] },
		"replaced": func(r *Record) { r.Replaced = r.Replaced[:1] }, "metadata": func(r *Record) { r.Metadata = "x" }, "leaving": func(r *Record) { r.Leaving = false },
		"stop": func(r *Record) { r.Stop = false }, "draining": func(r *Record) { r.Draining = 0 }, "resource": func(r *Record) { r.Resource = "x" },
		"interval": func(r *Record) { r.SnapshotInterval++ },
		"highest":  func(r *Record) { r.Levels = map[string]Level{"metadata.version": {Highest: 28}} },
		"lowered at": func(r *Record) {
			l := r.Levels["metadata.version"]
			l.LoweredAt = noon.Add(time.Second)
			r.Levels["metadata.version"] = l
		},
		"finalized": func(r *Record) { l := r.Levels["metadata.version"]; l.Finalized--; r.Levels["metadata.version"] = l },
	} {
		t.Run(name, func(t *testing.T) {
			other := base.Clone()
			change(&other)
			if base.Equal(&other) {
				t.Error("the records count as equal")
			}
			if diff := cmp.Diff(full(), base); diff != "" {
				t.Errorf("the clone shares memory (-want +got):\n%s", diff)
			}
		})
	}
}

// Decode names what a user broke, and the result never permits formatting.
func TestDecodeOfEditedData(t *testing.T) {
	data := full()
	broken := data.Encode()
	broken[KeyFormat], broken[KeyLevels], broken[KeyVolumes], broken[KeyID] = "yes please", "{", "0 x 2", "three"
	got, err := Decode(broken)
	if err == nil {
		t.Fatal("no error")
	}
	for _, key := range []string{KeyFormat, KeyLevels, KeyVolumes, KeyID} {
		if !strings.Contains(err.Error(), key) {
			t.Errorf("error %q does not name %s", err, key)
		}
	}
	if got.Format != FormatDone {
		t.Errorf("format %q, want %q", got.Format, FormatDone)
	}
	if got.Version != "4.1.1" || !got.Leaving || len(got.Volumes) != 2 {
		t.Errorf("what can be read is lost: %+v", got)
	}
}

// Every time that is decoded can be encoded again, or the levels would be lost when the record is next written.
func TestDecodeOfTimesThatJSONDoesNotEncode(t *testing.T) {
	last := time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	for name, c := range map[string]struct {
		lowered string
		want    time.Time
		failed  bool
	}{
		"another zone":             {lowered: "2026-03-01T13:00:00+01:00", want: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)},
		"a zone of 24 hours":       {lowered: "2026-03-02T12:00:00+24:00", want: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)},
		"before the year 0 in UTC": {lowered: "0000-01-01T00:00:00+24:00", want: last, failed: true},
		"after the year 9999":      {lowered: "9999-12-31T23:59:59-01:00", want: last, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			data := full()
			edited := data.Encode()
			edited[KeyLevels] = fmt.Sprintf(`{"metadata.version": {"highest": 27, "finalized": 25, "loweredAt": %q}}`, c.lowered)
			got, err := Decode(edited)
			if failed := err != nil; failed != c.failed || failed && !strings.Contains(err.Error(), "loweredAt of metadata.version is in the year") {
				t.Errorf("error %v, want one: %v", err, c.failed)
			}
			want := map[string]Level{"metadata.version": {Highest: 27, Finalized: 25, LoweredAt: c.want}}
			if diff := cmp.Diff(want, got.Levels); diff != "" {
				t.Errorf("levels (-want +got):\n%s", diff)
			}
			again, err := Decode(got.Encode())
			if err != nil {
				t.Fatalf("written back it cannot be read: %v", err)
			}
			if diff := cmp.Diff(got.Levels, again.Levels); diff != "" {
				t.Errorf("written back it reads (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecordObserveLevels(t *testing.T) {
	type step struct {
		finalized map[string]int16
		settle    bool
		after     time.Duration
		changed   bool
		want      map[string]Level
	}
	const feature = "metadata.version"
	for name, steps := range map[string][]step{
		"a level that stays is news once": {
			{finalized: map[string]int16{feature: 25}, changed: true, want: map[string]Level{feature: {Highest: 25, Finalized: 25}}},
			{finalized: map[string]int16{feature: 25}, after: time.Hour, want: map[string]Level{feature: {Highest: 25, Finalized: 25}}},
		},
		"a raised level replaces the highest": {
			{finalized: map[string]int16{feature: 25}, changed: true, want: map[string]Level{feature: {Highest: 25, Finalized: 25}}},
			{finalized: map[string]int16{feature: 27}, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 27}}},
		},
		"a lowered level is dated when it is first seen": {
			{finalized: map[string]int16{feature: 27}, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 27}}},
			{finalized: map[string]int16{feature: 25}, after: time.Minute, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 25, LoweredAt: noon.Add(time.Minute)}}},
			{finalized: map[string]int16{feature: 25}, after: time.Hour, want: map[string]Level{feature: {Highest: 27, Finalized: 25, LoweredAt: noon.Add(time.Minute)}}},
		},
		"a second lowering starts the wait again: the log holds the level in between": {
			{finalized: map[string]int16{feature: 27}, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 27}}},
			{finalized: map[string]int16{feature: 26}, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 26, LoweredAt: noon}}},
			{finalized: map[string]int16{feature: 25}, after: time.Minute, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 25, LoweredAt: noon.Add(time.Minute)}}},
		},
		"raised in between and lowered again": {
			{finalized: map[string]int16{feature: 27}, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 27}}},
			{finalized: map[string]int16{feature: 25}, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 25, LoweredAt: noon}}},
			{finalized: map[string]int16{feature: 26}, after: time.Minute, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 26, LoweredAt: noon}}},
			{finalized: map[string]int16{feature: 25}, after: time.Hour, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 25, LoweredAt: noon.Add(time.Hour)}}},
		},
		"back at the highest there is nothing to wait for": {
			{finalized: map[string]int16{feature: 27}, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 27}}},
			{finalized: map[string]int16{feature: 25}, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 25, LoweredAt: noon}}},
			{finalized: map[string]int16{feature: 27}, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 27}}},
		},
		"settled after a snapshot": {
			{finalized: map[string]int16{feature: 27}, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 27}}},
			{finalized: map[string]int16{feature: 25}, changed: true, want: map[string]Level{feature: {Highest: 27, Finalized: 25, LoweredAt: noon}}},
			{settle: true, changed: true, want: map[string]Level{feature: {Highest: 25, Finalized: 25}}},
			{settle: true, want: map[string]Level{feature: {Highest: 25, Finalized: 25}}},
		},
		"a feature lowered to zero is no longer reported": {
			{finalized: map[string]int16{"group.version": 1}, changed: true, want: map[string]Level{"group.version": {Highest: 1, Finalized: 1}}},
			{finalized: map[string]int16{}, changed: true, want: map[string]Level{"group.version": {Highest: 1, LoweredAt: noon}}},
			{settle: true, changed: true, want: map[string]Level{}},
		},
		"a feature at level zero is not remembered": {
			{finalized: map[string]int16{"share.version": 0}, want: nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := Record{}
			for i, s := range steps {
				before := r.Clone()
				var changed bool
				if s.settle {
					changed = r.SettleLevels()
				} else {
					changed = r.ObserveLevels(s.finalized, noon.Add(s.after))
				}
				if diff := cmp.Diff(s.want, r.Levels, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("step %d: levels (-want +got):\n%s", i, diff)
				}
				if changed != s.changed {
					t.Errorf("step %d: changed %v, want %v", i, changed, s.changed)
				}
				if changed == before.Equal(&r) {
					t.Errorf("step %d: changed %v does not agree with Equal", i, changed)
				}
			}
		})
	}
}

// A record of another hand may lack what was added later.
func TestDecodeOfIncompleteData(t *testing.T) {
	got, err := Decode(map[string]string{KeyID: "1", KeyPool: "p", KeyFormat: "done"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Record{ID: 1, Pool: "p", Format: FormatDone, SnapshotInterval: DefaultSnapshotInterval}, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}
