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

func TestCloneSharesNothing(t *testing.T) {
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
	replicas := kafka.Replicas{First: []kafka.Partition{{Replicas: []int32{1}}}, Widest: []kafka.Width{{Topics: []string{"a"}}}}
	rc := replicas.Clone()
	rc.First[0].Replicas[0], rc.Widest[0].Topics[0] = 9, "b"
	if replicas.First[0].Replicas[0] != 1 || replicas.Widest[0].Topics[0] != "a" {
		t.Errorf("replicas share: %+v", replicas)
	}
	moves := kafka.Reassignments{First: []kafka.Reassignment{{Replicas: []int32{1}, Adding: []int32{1}}}}
	mc := moves.Clone()
	mc.First[0].Replicas[0], mc.First[0].Adding[0] = 9, 9
	if moves.First[0].Replicas[0] != 1 || moves.First[0].Adding[0] != 1 {
		t.Errorf("reassignments share: %+v", moves)
	}
	configs := kafka.Configs{"a": "1"}
	configs.Clone()["a"] = "2"
	if configs["a"] != "1" {
		t.Error("configs share")
	}
}

func TestObservationsRoundTripAsJSON(t *testing.T) {
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

func TestLogDirsEmpty(t *testing.T) {
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

func TestErrorTypesAreDistinct(t *testing.T) {
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

func TestReadFailureAndWriteFailure(t *testing.T) {
	no := &kafka.Refused{Code: kafka.CodeInvalidUpdateVersion, Name: "INVALID_UPDATE_VERSION"}
	open := &kafka.Refused{Code: kafka.CodeRequestTimedOut, Name: "REQUEST_TIMED_OUT", Message: "the controller is busy"}
	cases := map[string]struct {
		err                          error
		refused, unknown, unreadable bool
	}{
		"a read that was refused":             {kafka.ReadFailure("reading", no), true, false, false},
		"a read that ran out of time inside":  {kafka.ReadFailure("reading", open), false, false, true},
		"a read without an answer":            {kafka.ReadFailure("reading", io.EOF), false, false, true},
		"a write that was refused":            {kafka.WriteFailure("writing", no, true), true, false, false},
		"a write that ran out of time inside": {kafka.WriteFailure("writing", open, true), false, true, false},
		"a write without an answer":           {kafka.WriteFailure("writing", io.EOF, true), false, true, false},
		"a write that never left":             {kafka.WriteFailure("writing", io.EOF, false), false, false, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var unreadable *kafka.Unreadable
			_, refused := kafka.AsRefused(c.err)
			got := [...]bool{refused, kafka.IsOutcomeUnknown(c.err), errors.As(c.err, &unreadable)}
			if want := [...]bool{c.refused, c.unknown, c.unreadable}; got != want {
				t.Errorf("refused, unknown, unreadable = %v, want %v: %v", got, want, c.err)
			}
		})
	}
}

func TestCodeName(t *testing.T) {
	for name, code := range map[string]int16{
		"NONE": 0, "REQUEST_TIMED_OUT": 7, "INVALID_UPDATE_VERSION": 95, "BROKER_ID_NOT_REGISTERED": 102,
		"MISMATCHED_ENDPOINT_TYPE": 114, "UNKNOWN_SERVER_ERROR": -1,
	} {
		if got := kafka.CodeName(code); got != name {
			t.Errorf("name of %d = %s, want %s", code, got, name)
		}
		if got, ok := kafka.CodeByName(name); !ok || got != code {
			t.Errorf("code of %s = %d, %v, want %d", name, got, ok, code)
		}
	}
	if got := kafka.CodeName(31_000); got != "UNKNOWN_ERROR_31000" {
		t.Errorf("name of an unknown code = %s", got)
	}
	if _, ok := kafka.CodeByName("NO_SUCH_THING"); ok {
		t.Error("found a code that does not exist")
	}
}

func TestAskAndExecuteRejectInvalidValues(t *testing.T) {
	if _, err := kafka.Ask(t.Context(), nil, kafka.Question{About: "weather"}); err == nil {
		t.Error("asked about the weather")
	}
	id := int32(1)
	for _, c := range []kafka.Command{{}, {Unregister: &id, UpdateFeature: &kafka.FeatureUpdate{}}, {Unregister: &id, Cordon: &kafka.Cordon{}}} {
		if err := kafka.Execute(t.Context(), nil, c); err == nil {
			t.Errorf("executed %+v", c)
		}
	}
}

// TestReplicasAdd counts every partition, and lists only as many as the observation may hold.
func TestReplicasAdd(t *testing.T) {
	of := func(topic string, index int32, replicas ...int32) kafka.Partition {
		return kafka.Partition{Topic: topic, Index: index, Replicas: replicas}
	}
	r := kafka.Replicas{Broker: 4}
	for _, p := range []kafka.Partition{of("a", 0, 4, 1), of("a", 1, 1, 2), of("a", 2, 2, 4), of("b", 0, 1, 2, 4)} {
		r.Add(p, 0)
	}
	r.Add(of("c", 0, 1, 2, 3, 4), 1) // one of them is being removed
	want := kafka.Replicas{
		Broker: 4, Total: 4, First: []kafka.Partition{of("a", 0, 4, 1), of("a", 2, 2, 4), of("b", 0, 1, 2, 4), of("c", 0, 1, 2, 3, 4)},
		Widest: []kafka.Width{{Replicas: 3, Partitions: 2, Topics: []string{"b", "c"}}, {Replicas: 2, Partitions: 2, Topics: []string{"a"}}},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range 2 * kafka.FirstPartitions {
		r.Add(of(fmt.Sprintf("d-%03d", i), 0, 4), 0)
	}
	if r.Total != 4+2*kafka.FirstPartitions || len(r.First) != kafka.FirstPartitions || len(r.Widest[2].Topics) != kafka.FirstReplicas {
		t.Errorf("of %d partitions %d are listed, and %d topics", r.Total, len(r.First), len(r.Widest[2].Topics))
	}
	r = kafka.Replicas{Broker: 4}
	for i := range int32(kafka.FirstPartitions) {
		r.Add(kafka.Partition{Topic: "a", Index: i, Leader: kafka.NoLeader, Replicas: []int32{4}}, 0)
	}
	r.Add(of("b", 0, 0, 4), 0)
	if last := r.First[len(r.First)-1]; len(r.First) != kafka.FirstPartitions || last.Topic != "b" {
		t.Errorf("%d partitions are listed, the last is %s; want the one with a leader", len(r.First), last.Name())
	}
}
