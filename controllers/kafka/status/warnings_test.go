package status

import (
	"testing"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

const tableOfWishes = `
- {version: 4.0.1, supported: true, metadata: 4.0-IV3}
- {version: 4.1.1, supported: true, metadata: 4.1-IV1}
- {version: 4.2.0, supported: true, default: true, metadata: 4.2-IV1}
`

// A manager with a newer table changes the version of no cluster: the default is for new clusters.
func TestWantedVersion(t *testing.T) {
	table, err := versions.Parse([]byte(tableOfWishes), "the versions of the test")
	if err != nil {
		t.Fatal(err)
	}
	runs := func(version string) observation.Node {
		return observation.Node{Wanted: true, Pod: observation.Pod{Exists: true, Version: version}}
	}
	ran := func(version string) observation.Node {
		return observation.Node{Wanted: true, Recorded: true, Record: record.Record{Version: version}}
	}
	keeps := func(version string) string {
		return "spec.kafka.version is not set, so that this cluster stays on Kafka " + version + "; new clusters run 4.2.0 by default. " +
			`Set spec.kafka.version to "4.2.0" to go there, or to "` + version + `" to say that it stays`
	}
	gone := func(version string) observation.Node {
		return observation.Node{Recorded: true, Record: record.Record{Version: version}}
	}
	for name, tc := range map[string]struct {
		spec, status string
		nodes        []observation.Node
		want, warns  string
	}{
		"a new cluster takes the default":                      {want: "4.2.0"},
		"a new cluster whose nodes were made takes it still":   {nodes: []observation.Node{runs("4.2.0"), ran("")}, want: "4.2.0"},
		"what the spec names":                                  {spec: "4.2.0", nodes: []observation.Node{runs("4.1.1")}, want: "4.2.0"},
		"an older version that the spec names is no news":      {spec: "4.1.1", nodes: []observation.Node{runs("4.1.1")}, want: "4.1.1"},
		"a cluster that runs stays":                            {status: "4.1.1", nodes: []observation.Node{runs("4.1.1"), runs("4.1.1")}, want: "4.1.1", warns: keeps("4.1.1")},
		"a cluster without its status stays":                   {nodes: []observation.Node{runs("4.1.1")}, want: "4.1.1", warns: keeps("4.1.1")},
		"a cluster of which the disks are left stays":          {nodes: []observation.Node{ran("4.1.1")}, want: "4.1.1", warns: keeps("4.1.1")},
		"a cluster of which the status is left stays":          {status: "4.1.1", want: "4.1.1", warns: keeps("4.1.1")},
		"the wish is taken away in the middle of a roll":       {status: "4.0.1", nodes: []observation.Node{runs("4.1.1"), runs("4.0.1")}, want: "4.0.1", warns: keeps("4.0.1")},
		"a removed node's record counts no more":               {nodes: []observation.Node{gone("4.0.1"), runs("4.1.1")}, want: "4.1.1", warns: keeps("4.1.1")},
		"records of removed nodes are all that is left":        {nodes: []observation.Node{gone("4.0.1"), gone("4.1.1")}, want: "4.0.1", warns: keeps("4.0.1")},
		"a cluster that is newer than the default":             {nodes: []observation.Node{runs("4.3.0")}, want: "4.3.0"},
		"a version that this table does not have is kept":      {nodes: []observation.Node{runs("3.9.1")}, want: "3.9.1", warns: keeps("3.9.1")},
		"an annotation that is no version is no evidence":      {nodes: []observation.Node{runs("latest"), runs("4.1.1")}, want: "4.1.1", warns: keeps("4.1.1")},
		"a status that is no version is the decision's to say": {status: "latest", want: "4.2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			k, v := &kafkav1beta2.Kafka{}, &observation.Snapshot{Table: table, Nodes: tc.nodes}
			k.Spec.Kafka.Version, k.Status.KafkaVersion = tc.spec, tc.status
			if got := observation.WantedVersion(k, v); got != tc.want {
				t.Errorf("wants %q, want %q", got, tc.want)
			}
			if got := facts.Situation(k, v).WantedVersion; got != tc.want {
				t.Errorf("the decision wants %q, want %q", got, tc.want)
			}
			if got := message(newerDefault(k, v)); got != tc.warns {
				t.Errorf("warns %q, want %q", got, tc.warns)
			}
		})
	}
}
