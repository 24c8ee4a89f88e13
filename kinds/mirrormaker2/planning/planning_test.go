//test:norace
package planning_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/crds/admission"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/plan"
	kafkaplanning "github.com/detent-dev/detent/kinds/kafka/planning"
	"github.com/detent-dev/detent/kinds/mirrormaker2/planning"
)

const older = `
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
metadata: {name: my-mm2, namespace: default}
spec:
  version: 4.1.2
  replicas: 2
  connectCluster: west
  clusters: [{alias: east, bootstrapServers: "east:9092"}, {alias: west, bootstrapServers: "west:9092"}]
  mirrors: [{sourceCluster: east, targetCluster: west, sourceConnector: {}}]
`

const newer = `
apiVersion: kafka.strimzi.io/v1
kind: KafkaMirrorMaker2
metadata: {name: my-mm2, namespace: default}
spec:
  version: 4.1.2
  replicas: 1
  target:
    {alias: west, bootstrapServers: "west:9092", groupId: mm2, configStorageTopic: a, offsetStorageTopic: b, statusStorageTopic: c%s}
  mirrors: [{source: {alias: east, bootstrapServers: "east:9092"}, sourceConnector: {tasksMax: 1, config: {replication.factor: -1}}, topicsPattern: ".*"}]
  metricsConfig: {type: jmxPrometheusExporter, valueFrom: {configMapKeyRef: {name: m, key: k}}}
`

// TestNew checks plans of a new resource in both shapes of its spec.
func TestNew(t *testing.T) {
	for name, tc := range map[string]struct {
		input string
		// states are the last states of the lifecycles, and text is a part of the plan.
		states []string
		text   string
	}{
		"clusters by alias":  {older, []string{"connector-offsets Idle", "connector Settled", "workers Current"}, "create connector east->west.MirrorSourceConnector"},
		"target and sources": {fmt.Sprintf(newer, ""), []string{"connector-offsets Idle", "connector Settled", "workers Current"}, "create NetworkPolicy my-mm2-mirrormaker2"},
		"tls":                {fmt.Sprintf(newer, `, tls: {trustedCertificates: [{secretName: x, pattern: "*.crt"}]}`), []string{"connector-offsets Idle", "connector Settled", "workers Refused"}, "Warning UnsupportedSecurity: cluster west has tls"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := read(t, tc.input)
			if err != nil {
				t.Fatal(err)
			}
			made, err := plan.Make(t.Context(), in, plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, lc := range made.Objects[0].Lifecycles {
				name, _, _ := strings.Cut(lc.Name, "/")
				got = append(got, name+" "+lc.End)
			}
			if diff := cmp.Diff(tc.states, got); diff != "" {
				t.Error(diff)
			}
			if text := made.Text(plan.TextOptions{Width: 200}); !strings.Contains(text, tc.text) {
				t.Errorf("the plan lacks %q:\n%s", tc.text, text)
			}
		})
	}
}

// read returns the input of the documents, or what is wrong with them.
func read(t *testing.T, documents string) (plan.Input, error) {
	t.Helper()
	found, err := objects.Parse("in.yaml", []byte(documents))
	if err != nil {
		t.Fatal(err)
	}
	pods, err := kafkaplanning.New(kafkaplanning.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kind, err := planning.New()
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := admission.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return plan.Read(t.Context(), schemas, []plan.Kind{pods, kind}, found)
}
