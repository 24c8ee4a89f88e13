package v1beta2_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestKafkaMirrorMaker2SpecConnectors(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		// want are the states by name, in order.
		want [][2]string
	}{
		"clusters by alias": {
			spec: `
connectCluster: west
clusters:
- {alias: east, bootstrapServers: "east:9092"}
- {alias: west, bootstrapServers: "west:9092"}
mirrors:
- sourceCluster: east
  targetCluster: west
  sourceConnector: {state: stopped}
  checkpointConnector: {pause: true}
  heartbeatConnector: {pause: true, state: running}
`,
			want: [][2]string{{"east->west.MirrorCheckpointConnector", "paused"}, {"east->west.MirrorHeartbeatConnector", "running"}, {"east->west.MirrorSourceConnector", "stopped"}},
		},
		"target and sources; what is absent is no connector": {
			spec: `
target: {alias: west, bootstrapServers: "west:9092", groupId: g, configStorageTopic: c, offsetStorageTopic: o, statusStorageTopic: s}
mirrors:
- source: {alias: south, bootstrapServers: "south:9092"}
  sourceConnector: {}
- source: {alias: east, bootstrapServers: "east:9092"}
  sourceConnector: {pause: false}
`,
			want: [][2]string{{"east->west.MirrorSourceConnector", "running"}, {"south->west.MirrorSourceConnector", "running"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var spec v1beta2.KafkaMirrorMaker2Spec
			if err := yaml.UnmarshalStrict([]byte(tc.spec), &spec); err != nil {
				t.Fatal(err)
			}
			var got [][2]string
			for _, c := range spec.Connectors() {
				got = append(got, [2]string{c.Name, string(c.Desired())})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
