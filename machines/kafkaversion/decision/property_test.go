package decision_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
)

// weighted draws a usual value most of the time, so that most situations get far.
func weighted(usual []string, rare ...string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 19).Draw(t, "rare") == 0 {
			return rapid.SampledFrom(rare).Draw(t, "value")
		}
		return rapid.SampledFrom(usual).Draw(t, "value")
	})
}

var (
	wantedVersions = weighted([]string{"", "3.9.2", "4.0.2", "4.1.1", "4.1.2", "4.2.0", "4.3.0", "4.3.1"}, "4.1.1-acme-2", "99.0.0", "4.1")
	nodeVersions   = weighted([]string{"", "3.9.2", "4.0.2", "4.1.1", "4.1.1-acme-2", "4.1.2", "4.2.0", "4.3.1"}, "3.99.0", "99.0.0", "latest")
	metadata       = weighted([]string{"", "", "3.9", "4.0", "4.1-IV0", "4.1", "4.2", "4.3-IV0"}, "3.3-IV3", "4.4", "5.11-IV1", "4.2-IV7", "3.2", "wrong")
	smallFeature   = rapid.SampledFrom([]string{versions.FeatureKRaft, versions.FeatureTransaction, versions.FeatureGroup,
		versions.FeatureShare, versions.FeatureStreams, "acme.version"})
)

// anySituation draws situations that real clusters can be in, and others.
func anySituation(table *versions.Table) *rapid.Generator[decision.Situation] {
	return rapid.Custom(func(t *rapid.T) decision.Situation {
		s := decision.Situation{
			Table:            table,
			WantedVersion:    wantedVersions.Draw(t, "wanted"),
			WantedMetadata:   metadata.Draw(t, "wanted metadata"),
			RecordedVersion:  nodeVersions.Draw(t, "recorded"),
			RecordedMetadata: metadata.Draw(t, "recorded metadata"),
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "nodes") {
			s.Nodes = append(s.Nodes, decision.NodeVersions{
				Name: nodeName(i), HasPod: rapid.Bool().Draw(t, "pod"), Runs: nodeVersions.Draw(t, "annotated"),
				LastStarted: nodeVersions.Draw(t, "started"), NeverStarted: rapid.Bool().Draw(t, "never"),
			})
		}
		if rapid.IntRange(0, 3).Draw(t, "answers") == 0 {
			return s
		}
		s.Finalized = decision.FinalizedLevels{Known: true, Levels: map[string]int16{}}
		if rapid.IntRange(0, 9).Draw(t, "reports") > 0 {
			s.Finalized.Levels[versions.FeatureMetadata] = rapid.OneOf(rapid.Int16Range(21, 30), rapid.Int16Range(0, 35)).Draw(t, "level")
		}
		if rapid.Bool().Draw(t, "others") {
			s.Finalized.Levels[smallFeature.Draw(t, "feature")] = rapid.Int16Range(0, 3).Draw(t, "level")
		}
		return s
	})
}

// always holds a property against many more situations than rapid draws at once.
func always(t *testing.T, property func(t *rapid.T, s decision.Situation)) {
	t.Helper()
	situations := anySituation(embeddedTable(t))
	for range 30 {
		rapid.Check(t, func(t *rapid.T) { property(t, situations.Draw(t, "situation")) })
		if t.Failed() {
			return
		}
	}
}

// The rule that everything serves: no node is sent to a version that does not run
// what the cluster has finalized.
func TestDecideNeverAllowsBeyondAFinalizedLevel(t *testing.T) {
	counts := map[decision.Outcome]int{}
	always(t, func(t *rapid.T, s decision.Situation) {
		d := decision.Decide(s)
		counts[d.Outcome]++
		if d.Outcome != decision.OutcomeAllowed {
			return
		}
		row, ok := d.To.Row()
		if !ok || !row.Supported() {
			t.Fatalf("allowed to %s, which the table does not support", d.To)
		}
		for feature, level := range s.Finalized.Levels {
			if runs, named := row.Range(feature); named && !runs.Contains(level) &&
				(feature != versions.FeatureMetadata || level > 0) {
				t.Fatalf("allowed to %s, which runs %s at %v, and %d is finalized", d.To, feature, runs, level)
			}
		}
		if level := d.Metadata.Target; level != 0 {
			if runs, _ := row.Range(versions.FeatureMetadata); !runs.Contains(level) {
				t.Fatalf("metadata.version is to be at %d, and %s runs %v", level, d.To, runs)
			}
		}
	})
	t.Logf("outcomes drawn: %v", counts)
}

// A version change never moves the level, and a level is moved only by Kafka's word.
func TestDecideChangesMetadataOnlyAtRest(t *testing.T) {
	always(t, func(t *rapid.T, s decision.Situation) {
		d := decision.Decide(s)
		p := d.Metadata
		moves := p.Step == decision.MetadataRaise || p.Step == decision.MetadataLower
		if moves && (d.Outcome != decision.OutcomeAllowed || d.Direction != decision.DirectionStay) {
			t.Fatalf("%s while the outcome is %s, direction %s", p.Step, d.Outcome, d.Direction)
		}
		finalized := s.Finalized.Levels[versions.FeatureMetadata]
		if moves && (finalized == 0 || (p.Step == decision.MetadataRaise) != (p.Target > finalized) || p.Target == finalized) {
			t.Fatalf("%s from %d to %d", p.Step, finalized, p.Target)
		}
		if d.Outcome == decision.OutcomeAllowed && d.Direction != decision.DirectionStay &&
			d.Direction != decision.DirectionInstall && finalized != 0 && p.Target != finalized {
			t.Fatalf("direction %s takes the level from %d to %d", d.Direction, finalized, p.Target)
		}
	})
}

// A downgrade is never decided in the dark, unless no newer version ever started.
func TestDecideAllowsNoDowngradeWithUnknownLevels(t *testing.T) {
	always(t, func(t *rapid.T, s decision.Situation) {
		s.Finalized, s.RecordedMetadata = decision.FinalizedLevels{}, ""
		d := decision.Decide(s)
		if d.Direction != decision.DirectionDown || d.Outcome != decision.OutcomeAllowed {
			return
		}
		for _, n := range s.Nodes {
			started := n.LastStarted
			if started == "" && n.HasPod && !n.NeverStarted {
				started = n.Runs
			}
			if started == "" {
				continue
			}
			if v, err := s.Table.Find(started); err != nil || v.Number().Compare(d.To.Number()) > 0 {
				t.Fatalf("down to %s with nothing read, and %s was last started with %s", d.To, n.Name, started)
			}
		}
	})
}

// The order of the nodes says nothing, and the same situation gives the same words.
func TestDecideDoesNotDependOnTheOrderOfNodes(t *testing.T) {
	always(t, func(t *rapid.T, s decision.Situation) {
		want := decision.Decide(s)
		s.Nodes = rapid.Permutation(s.Nodes).Draw(t, "other order")
		got := decision.Decide(s)
		if diff := cmp.Diff(summary(want), summary(got)); diff != "" || want.Message != got.Message {
			t.Fatalf("decision (-one order +another):\n%s\n%s\n%s", diff, want.Message, got.Message)
		}
	})
}

// Every stop says why and what to do; nothing else does.
func TestDecideGivesAReasonForEveryStop(t *testing.T) {
	always(t, func(t *rapid.T, s decision.Situation) {
		d := decision.Decide(s)
		stopped := d.Outcome != decision.OutcomeAllowed
		if stopped != (d.Reason != "") || stopped != (d.Message != "") {
			t.Fatalf("%s with reason %q and message %q", d.Outcome, d.Reason, d.Message)
		}
		if (d.Outcome == decision.OutcomeUndecided) != (len(d.Unreadable) > 0) {
			t.Fatalf("%s, unreadable %v", d.Outcome, d.Unreadable)
		}
		if strings.Contains(d.Message, "%!") || strings.Contains(d.Message, "  ") || strings.Contains(d.Message, "Kafka  ") {
			t.Fatalf("message with a hole: %s", d.Message)
		}
		for _, w := range d.Warnings {
			if w.Reason == "" || w.Message == "" || strings.Contains(w.Message, "%!") || strings.Contains(w.Message, "  ") {
				t.Fatalf("warning with a hole: %+v", w)
			}
		}
	})
}

// Carrying out what was decided ends at rest: from every allowed situation in which
// Kafka answers, rolling the nodes and then moving the level settles the cluster.
func TestDecideSettlesAfterEverySequence(t *testing.T) {
	always(t, func(t *rapid.T, s decision.Situation) {
		d := decision.Decide(s)
		if d.Outcome != decision.OutcomeAllowed || !s.Finalized.Known || s.Finalized.Levels[versions.FeatureMetadata] == 0 || len(s.Nodes) == 0 {
			return
		}
		for i := range s.Nodes {
			s.Nodes[i] = decision.NodeVersions{Name: s.Nodes[i].Name, HasPod: true, Runs: d.To.String(), LastStarted: d.To.String()}
		}
		if d = decision.Decide(s); d.Outcome != decision.OutcomeAllowed || d.Direction != decision.DirectionStay {
			t.Fatalf("after the roll: %+v", summary(d))
		}
		s.Finalized.Levels[versions.FeatureMetadata] = d.Metadata.Target
		if d = decision.Decide(s); !d.Settled() {
			t.Fatalf("after the level: %+v", summary(d))
		}
	})
}

// A pass at rest decides once; it must not cost memory.
func TestDecideAtRestDoesNotAllocate(t *testing.T) {
	s := decision.Situation{Table: embeddedTable(t), WantedVersion: "4.3.1", WantedMetadata: "4.3-IV0",
		Nodes: running("4.3.1", "4.3.1", "4.3.1", "4.3.1", "4.3.1", "4.3.1"), Finalized: finalized(30, "share.version", 1)}
	allocations := testing.AllocsPerRun(100, func() {
		if d := decision.Decide(s); !d.Settled() {
			panic(d.Message)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func BenchmarkDecideAtRest(b *testing.B) {
	s := decision.Situation{Table: embeddedTable(b), WantedVersion: "4.3.1",
		Nodes: running("4.3.1", "4.3.1", "4.3.1", "4.3.1", "4.3.1", "4.3.1"), Finalized: finalized(30, "share.version", 1)}
	b.ReportAllocs()
	for b.Loop() {
		if d := decision.Decide(s); !d.Settled() {
			b.Fatal(d.Message)
		}
	}
}

func FuzzDecide(f *testing.F) {
	f.Add("4.3.1", "4.3-IV0", "4.2.0", "4.2.0", "4.2.0", "4.2-IV1", true, int16(29), int16(1))
	f.Add("", "", "99.0.0", "", "", "", true, int16(30), int16(0))
	f.Add("4.2.0", "5.11", "", "4.3.1", "", "5.11-IV1", false, int16(0), int16(0))
	f.Add("4.1", "3", "latest", "x", "y", "z", true, int16(-1), int16(-1))
	f.Fuzz(func(t *testing.T, wanted, pin, annotated, started, recorded, recordedMetadata string, known bool, level, share int16) {
		table := embeddedTable(t)
		s := decision.Situation{Table: table, WantedVersion: wanted, WantedMetadata: pin, RecordedVersion: recorded, RecordedMetadata: recordedMetadata,
			Nodes: []decision.NodeVersions{{Name: "a", HasPod: true, Runs: annotated}, {Name: "b", LastStarted: started}}}
		if known {
			s.Finalized = finalized(level, "share.version", int(share))
		}
		d := decision.Decide(s)
		if (d.Outcome == decision.OutcomeAllowed) != (d.Message == "") {
			t.Fatalf("%s with message %q", d.Outcome, d.Message)
		}
		if d.Outcome != decision.OutcomeAllowed || !known {
			return
		}
		row, _ := d.To.Row()
		if runs, _ := row.Range(versions.FeatureMetadata); level > 0 && !runs.Contains(level) {
			t.Fatalf("allowed to %s at level %d", d.To, level)
		}
		if runs, _ := row.Range("share.version"); !runs.Contains(share) {
			t.Fatalf("allowed to %s at share.version %d", d.To, share)
		}
	})
}
