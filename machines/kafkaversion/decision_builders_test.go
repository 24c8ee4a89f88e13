package kafkaversion_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines/kafkaversion"
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
func running(texts ...string) []kafkaversion.NodeVersions {
	nodes := make([]kafkaversion.NodeVersions, len(texts))
	for i, text := range texts {
		nodes[i] = kafkaversion.NodeVersions{Name: nodeName(i), HasPod: true, Runs: text, LastStarted: text}
	}
	return nodes
}

// adopted is pods with these annotations, "" for none, and without records.
func adopted(texts ...string) []kafkaversion.NodeVersions {
	nodes := running(texts...)
	for i := range nodes {
		nodes[i].LastStarted = ""
	}
	return nodes
}

// contradicted is pods of which the last one contradicts its version, "" for one that the operator has written nothing of.
func contradicted(texts ...string) []kafkaversion.NodeVersions {
	nodes := running(texts...)
	last := &nodes[len(nodes)-1]
	last.Contradiction = last.Name + " runs another image"
	return nodes
}

// stored is nodes without pods whose records name these versions.
func stored(texts ...string) []kafkaversion.NodeVersions {
	nodes := running(texts...)
	for i := range nodes {
		nodes[i].HasPod, nodes[i].Runs = false, ""
	}
	return nodes
}

// neverStarted is pods with these annotations whose records say that no process
// ever ran.
func neverStarted(texts ...string) []kafkaversion.NodeVersions {
	nodes := adopted(texts...)
	for i := range nodes {
		nodes[i].NeverStarted = true
	}
	return nodes
}

// moved is a pod that carries one version and whose disk was last started with
// another.
func moved(name, annotated, started string) kafkaversion.NodeVersions {
	return kafkaversion.NodeVersions{Name: name, HasPod: true, Runs: annotated, LastStarted: started}
}

func nodeName(i int) string { return fmt.Sprintf("my-cluster-pool-%d", i) }

// finalized is what Kafka answers: a level of metadata.version, and of others.
func finalized(metadata int16, others ...any) kafkaversion.FinalizedLevels {
	levels := map[string]int16{versions.FeatureMetadata: metadata}
	for i := 0; i+1 < len(others); i += 2 {
		levels[others[i].(string)] = int16(others[i+1].(int))
	}
	return kafkaversion.FinalizedLevels{Known: true, Levels: levels}
}

// silent is Kafka not answering.
func silent() kafkaversion.FinalizedLevels {
	return kafkaversion.FinalizedLevels{Problem: "connection refused"}
}

// made is the part of a decision that tests name.
type made struct {
	Outcome        kafkaversion.Outcome
	Direction      kafkaversion.Direction
	From, To       string
	Reason         kafkaversion.Reason
	Unreadable     []string
	Step           kafkaversion.MetadataStep
	Target, Wanted int16
	Warnings       []kafkaversion.Reason
}

func summary(d kafkaversion.Decision) made {
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
