package observation

import (
	"testing"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// Without a version in the spec, a cluster keeps the oldest one of its nodes. A node that leaves decides only if there is no other.
func TestWantedVersionOfASpecWithoutOne(t *testing.T) {
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	stays := func(version string) Node {
		return Node{Pool: "p", Wanted: true, Pod: Pod{Exists: true, Version: version}}
	}
	shrunk, orphan := stays("4.0.2"), stays("4.0.2")
	shrunk.Wanted = false
	orphan.Pool, orphan.Wanted = "deleted", false
	gone := Node{Pool: "p", Recorded: true, Record: record.Record{Version: "3.9.2"}}
	for name, tc := range map[string]struct {
		nodes []Node
		want  string
	}{
		"nodes of two versions":                           {nodes: []Node{stays("4.1.2"), stays("4.0.2")}, want: "4.0.2"},
		"a broker that its pool does not declare":         {nodes: []Node{stays("4.1.2"), shrunk}, want: "4.0.2"},
		"a broker whose pool was deleted":                 {nodes: []Node{stays("4.1.2"), orphan}, want: "4.1.2"},
		"every pool was deleted":                          {nodes: []Node{orphan, gone}, want: "4.0.2"},
		"a node without a pod, which is not desired":      {nodes: []Node{stays("4.1.2"), gone}, want: "4.1.2"},
		"only a node without a pod, which is not desired": {nodes: []Node{gone}, want: "3.9.2"},
	} {
		t.Run(name, func(t *testing.T) {
			v := &Snapshot{Table: table, Nodes: tc.nodes, Objects: Objects{Pools: []*kafkav1beta2.KafkaNodePool{{}}}}
			v.Objects.Pools[0].Name = "p"
			if got := WantedVersion(&kafkav1beta2.Kafka{}, v); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
