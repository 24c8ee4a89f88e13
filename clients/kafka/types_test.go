package kafka_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka"
)

func TestClonesShareNothing(t *testing.T) {
	features := kafka.Features{Finalized: map[string]int16{"a": 1}, Supported: map[int32]map[string]kafka.Range{1: {"a": {Min: 0, Max: 1}}}}
	fc := features.Clone()
	fc.Finalized["a"], fc.Supported[1]["a"] = 9, kafka.Range{Max: 9}
	if features.Level("a") != 1 || features.Supported[1]["a"].Max != 1 {
		t.Errorf("features share: %+v", features)
	}
	partitions := kafka.Partitions{Replicas: map[int32]int{1: 1}, Suspect: []kafka.Partition{{Replicas: []int32{1}, ISR: []int32{1}, Offline: []int32{1}}}}
	pc := partitions.Clone()
	pc.Replicas[1], pc.Suspect[0].ISR[0], pc.Suspect[0].Replicas[0], pc.Suspect[0].Offline[0], pc.Suspect[0].Topic = 2, 9, 9, 9, "x"
	want := kafka.Partitions{Replicas: map[int32]int{1: 1}, Suspect: []kafka.Partition{{Replicas: []int32{1}, ISR: []int32{1}, Offline: []int32{1}}}}
	if diff := cmp.Diff(want, partitions); diff != "" {
		t.Errorf("partitions share:\n%s", diff)
	}
	dirs := kafka.LogDirs{Dirs: []kafka.LogDir{{First: []string{"a"}, Error: &kafka.Refused{Code: 1}}}}
	dc := dirs.Clone()
	dc.Dirs[0].First[0], dc.Dirs[0].Error.Code, dc.Dirs[0].Path = "b", 2, "p"
	if dirs.Dirs[0].First[0] != "a" || dirs.Dirs[0].Error.Code != 1 || dirs.Dirs[0].Path != "" {
		t.Errorf("log dirs share: %+v", dirs)
	}
	brokers := kafka.Brokers{Brokers: []kafka.Broker{{ID: 1}}}
	bc := brokers.Clone()
	bc.Brokers[0].ID = 2
	if brokers.Brokers[0].ID != 1 {
		t.Error("brokers share")
	}
	configs := kafka.Configs{"a": "1"}
	configs.Clone()["a"] = "2"
	if configs["a"] != "1" {
		t.Error("configs share")
	}
}

func TestObservationsReadAndWriteAsJSON(t *testing.T) {
	want := kafka.Features{Finalized: map[string]int16{kafka.MetadataVersion: 27}, Epoch: 5, Supported: map[int32]map[string]kafka.Range{4: {kafka.MetadataVersion: {Min: 7, Max: 27}}}}
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got kafka.Features
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", raw, diff)
	}
}

func TestBrokersFind(t *testing.T) {
	b := kafka.Brokers{Brokers: []kafka.Broker{{ID: 0}, {ID: 3, Fencing: kafka.Fenced}, {ID: 1874}}}
	got, ok := b.Find(3)
	if !ok || got.Fencing != kafka.Fenced {
		t.Errorf("Find(3) = %+v, %v", got, ok)
	}
	if _, ok := b.Find(4); ok {
		t.Error("found a broker that is not there")
	}
	if diff := cmp.Diff([]int32{0, 3, 1874}, b.IDs()); diff != "" {
		t.Error(diff)
	}
}

func TestEmptyLogDirs(t *testing.T) {
	cases := map[string]struct {
		dirs []kafka.LogDir
		want bool
	}{
		"no directory at all":           {nil, false},
		"one without replicas":          {[]kafka.LogDir{{Path: "/a"}}, true},
		"one of two with a replica":     {[]kafka.LogDir{{Path: "/a"}, {Path: "/b", Replicas: 1}}, false},
		"one that cannot be looked at":  {[]kafka.LogDir{{Path: "/a"}, {Path: "/b", Error: &kafka.Refused{Code: 56}}}, false},
		"only one that cannot be asked": {[]kafka.LogDir{{Path: "/b", Error: &kafka.Refused{Code: 56}}}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (kafka.LogDirs{Dirs: c.dirs}).Empty(); got != c.want {
				t.Errorf("empty = %v, want %v", got, c.want)
			}
		})
	}
}

func TestErrorsAreToldApart(t *testing.T) {
	refused := fmt.Errorf("raising: %w", &kafka.Refused{Code: kafka.CodeInvalidUpdateVersion, Name: "INVALID_UPDATE_VERSION", Message: "Broker 3 only supports versions 7-25"})
	unknown := fmt.Errorf("raising: %w", &kafka.OutcomeUnknown{What: "updating metadata.version", Err: io.ErrUnexpectedEOF})
	unreadable := fmt.Errorf("looking: %w", &kafka.Unreadable{What: "describing the quorum", Err: io.EOF})

	if r, ok := kafka.AsRefused(refused); !ok || r.Code != 95 {
		t.Errorf("refused = %+v, %v", r, ok)
	}
	if want := "raising: kafka answered INVALID_UPDATE_VERSION (95): Broker 3 only supports versions 7-25"; refused.Error() != want {
		t.Errorf("text = %q, want %q", refused, want)
	}
	for name, c := range map[string]struct {
		err              error
		refused, unknown bool
		cause            error
	}{
		"refused":    {refused, true, false, nil},
		"unknown":    {unknown, false, true, io.ErrUnexpectedEOF},
		"unreadable": {unreadable, false, false, io.EOF},
	} {
		if _, ok := kafka.AsRefused(c.err); ok != c.refused {
			t.Errorf("%s: refused = %v", name, ok)
		}
		if kafka.IsOutcomeUnknown(c.err) != c.unknown {
			t.Errorf("%s: unknown = %v", name, !c.unknown)
		}
		if c.cause != nil && !errors.Is(c.err, c.cause) {
			t.Errorf("%s: the cause is lost", name)
		}
	}
}
