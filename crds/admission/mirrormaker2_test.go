package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestCreateKafkaMirrorMaker2(t *testing.T) {
	schemas := schemas(t)
	const target = "target: {alias: w, bootstrapServers: 'w:9092', groupId: g, configStorageTopic: c, offsetStorageTopic: o, statusStorageTopic: s, " +
		"config: {a: -1, b: 'false', c: true}, tls: {trustedCertificates: [{secretName: x, pattern: '*.crt'}]}, " +
		"authentication: {type: scram-sha-512, username: u, passwordSecret: {secretName: s, password: p}}}\n"
	const clusters = "connectCluster: w\nclusters: [{alias: e, bootstrapServers: 'e:1'}, {alias: w, bootstrapServers: 'w:1'}]\n"
	for name, tc := range map[string]struct {
		spec string
		// refused is a part of the refusal; empty if the resource is admitted.
		refused string
	}{
		"target and sources": {
			spec: target + "version: 4.3.1\nreplicas: 1\nmetricsConfig: {type: jmxPrometheusExporter}\nmirrors: [{source: {alias: e, bootstrapServers: 'e:1'}, " +
				"sourceConnector: {tasksMax: 1, config: {x: 600}, listOffsets: {toConfigMap: {name: a}}}, topicsPattern: '.*', groupsPattern: '.*'}]",
		},
		"clusters by alias": {
			spec: clusters + "mirrors: [{sourceCluster: e, targetCluster: w, heartbeatConnector: {state: stopped, autoRestart: {enabled: true}, alterOffsets: {fromConfigMap: {name: a}}}}]",
		},
		"both shapes":                            {spec: target + clusters + "mirrors: [{sourceCluster: e, targetCluster: w}]", refused: "give either target, or connectCluster"},
		"neither shape":                          {spec: "mirrors: [{sourceCluster: e, targetCluster: w}]", refused: "give either target, or connectCluster"},
		"half of a shape":                        {spec: "connectCluster: w\nmirrors: [{sourceCluster: e, targetCluster: w}]", refused: "must be given together"},
		"a target, and a mirror between aliases": {spec: target + "mirrors: [{sourceCluster: e, targetCluster: w}]", refused: "with target each mirror must have source"},
		"clusters, and a mirror with a source":   {spec: clusters + "mirrors: [{source: {alias: e, bootstrapServers: 'e:1'}}]", refused: "with target each mirror must have source"},
		"an alias of no cluster":                 {spec: clusters + "mirrors: [{sourceCluster: x, targetCluster: w}]", refused: "must be the alias of one of the clusters"},
		"another target than the workers'":       {spec: clusters + "mirrors: [{sourceCluster: w, targetCluster: e}]", refused: "must be the connectCluster"},
		"one source twice":                       {spec: clusters + "mirrors: [{sourceCluster: e, targetCluster: w}, {sourceCluster: e, targetCluster: w}]", refused: "the same source"},
		"one source twice, with a target":        {spec: target + "mirrors: [{source: {alias: e, bootstrapServers: 'e:1'}}, {source: {alias: e, bootstrapServers: 'f:1'}}]", refused: "the same source"},
		"an alias that breaks connector names":   {spec: target + "mirrors: [{source: {alias: 'e>', bootstrapServers: 'e:1'}}]", refused: "an alias has 1 to 100"},
	} {
		for _, version := range []string{"v1", "v1beta2"} {
			t.Run(name+" in "+version, func(t *testing.T) {
				spec := map[string]any{}
				if err := yaml.Unmarshal([]byte(tc.spec), &spec); err != nil {
					t.Fatal(err)
				}
				got := schemas.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "kafka.strimzi.io/" + version, "kind": "KafkaMirrorMaker2", "metadata": map[string]any{"name": "my-mm2", "namespace": "prod"}, "spec": spec,
				}})
				switch {
				case tc.refused == "" && len(got) > 0:
					t.Errorf("refused: %v", got)
				case tc.refused != "" && !strings.Contains(fmt.Sprint(got), tc.refused):
					t.Errorf("refused with %v, want %q", got, tc.refused)
				}
			})
		}
	}
}
