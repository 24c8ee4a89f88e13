package decision_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/transitions"
)

func embeddedTable(t testing.TB) *versions.Table {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func parseTable(t testing.TB, text string) *versions.Table {
	t.Helper()
	table, err := versions.Parse([]byte(text), "my-versions")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// running is nodes whose pods carry these versions and whose disks were last
// started with them.
func running(texts ...string) []decision.NodeVersions {
	nodes := make([]decision.NodeVersions, len(texts))
	for i, text := range texts {
		nodes[i] = decision.NodeVersions{Name: nodeName(i), HasPod: true, Runs: text, LastStarted: text}
	}
	return nodes
}

// adopted is pods with these annotations, "" for none, and without records.
func adopted(texts ...string) []decision.NodeVersions {
	nodes := running(texts...)
	for i := range nodes {
		nodes[i].LastStarted = ""
	}
	return nodes
}

// contradicted is pods of which the last one contradicts its version, "" for one that the operator has written nothing of.
func contradicted(texts ...string) []decision.NodeVersions {
	nodes := running(texts...)
	last := &nodes[len(nodes)-1]
	last.Contradiction = transitions.Problemf("PodContradicted", "%s runs another image", last.Name)
	return nodes
}

// stored is nodes without pods whose records name these versions.
func stored(texts ...string) []decision.NodeVersions {
	nodes := running(texts...)
	for i := range nodes {
		nodes[i].HasPod, nodes[i].Runs = false, ""
	}
	return nodes
}

// neverStarted is pods with these annotations whose records say that no process
// ever ran.
func neverStarted(texts ...string) []decision.NodeVersions {
	nodes := adopted(texts...)
	for i := range nodes {
		nodes[i].NeverStarted = true
	}
	return nodes
}

// moved is a pod that carries one version and whose disk was last started with
// another.
func moved(name, annotated, started string) decision.NodeVersions {
	return decision.NodeVersions{Name: name, HasPod: true, Runs: annotated, LastStarted: started}
}

func nodeName(i int) string { return fmt.Sprintf("my-cluster-pool-%d", i) }

// finalized is what Kafka answers: a level of metadata.version, and of others.
func finalized(metadata int16, others ...any) decision.FinalizedLevels {
	levels := map[string]int16{versions.FeatureMetadata: metadata}
	for i := 0; i+1 < len(others); i += 2 {
		levels[others[i].(string)] = int16(others[i+1].(int))
	}
	return decision.FinalizedLevels{Known: true, Levels: levels}
}

// silent is Kafka not answering.
func silent() decision.FinalizedLevels {
	return decision.FinalizedLevels{Err: errors.New("connection refused")}
}

// made is the part of a decision that tests name.
type made struct {
	Outcome        decision.Outcome
	Direction      decision.Direction
	From, To       string
	Reason         decision.Reason
	Unreadable     []string
	Step           decision.MetadataStep
	Target, Wanted int16
	Warnings       []decision.Reason
}

func summary(d decision.Decision) made {
	m := made{
		Outcome: d.Outcome, Direction: d.Direction, From: d.From.String(), To: d.To.String(), Reason: d.Reason,
		Unreadable: d.Unreadable, Step: d.Metadata.Step, Target: d.Metadata.Target, Wanted: d.Metadata.Wanted,
	}
	for _, w := range d.Warnings {
		m.Warnings = append(m.Warnings, w.Reason)
	}
	slices.Sort(m.Warnings)
	return m
}
