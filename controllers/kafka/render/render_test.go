package render

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

var update = flag.Bool("update", false, "write the golden files anew")

func table(t testing.TB) *versions.Table {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// example reads an example file as users apply it, with node ids counted up over its pools.
func example(t testing.TB, path string) Input {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Namespace: "default", ClusterID: "cluster-id", Table: table(t)}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	next := int32(0)
	for {
		var raw map[string]any
		if err := decoder.Decode(&raw); err != nil {
			break
		}
		text, err := sigsyaml.Marshal(raw)
		if err != nil {
			t.Fatal(err)
		}
		switch raw["kind"] {
		case "Kafka":
			var kafka kafkav1beta2.Kafka
			if err := sigsyaml.Unmarshal(text, &kafka); err != nil {
				t.Fatal(err)
			}
			in.Name, in.Spec = kafka.Name, kafka.Spec
		case "KafkaNodePool":
			var pool kafkav1beta2.KafkaNodePool
			if err := sigsyaml.Unmarshal(text, &pool); err != nil {
				t.Fatal(err)
			}
			in.Pools = append(in.Pools, Pool{Name: pool.Name, Spec: pool.Spec})
		}
	}
	slices.SortFunc(in.Pools, func(a, b Pool) int { return strings.Compare(a.Name, b.Name) })
	for _, pool := range in.Pools {
		for range pool.Spec.Replicas {
			in.Nodes = append(in.Nodes, Node{
				ID: next, Pool: pool.Name, Pod: fmt.Sprintf("%s-%s-%d", in.Name, pool.Name, next),
				Controller: pool.Spec.HasRole(kafkav1beta2.RoleController), Broker: pool.Spec.HasRole(kafkav1beta2.RoleBroker), Runs: true,
			})
			next++
		}
	}
	return in
}

// everything renders all objects of a cluster as one stream of documents.
func everything(t testing.TB, c *Cluster, version string) string {
	t.Helper()
	var out strings.Builder
	add := func(object any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		text, err := sigsyaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	add(c.Account(), nil)
	for _, s := range c.Services(nil) {
		add(s, nil)
	}
	add(c.Budget(), nil)
	for _, pool := range c.in.Pools {
		add(c.PodSet(pool.Name), nil)
	}
	seen := map[string]bool{}
	for _, n := range c.in.Nodes {
		if seen[n.Pool] {
			continue // one node of each pool shows what there is to see
		}
		seen[n.Pool] = true
		r := record.Record{ID: n.ID, Pool: n.Pool, Format: record.FormatAllowed, ClusterID: c.in.ClusterID}
		add(c.Record(&r), nil)
		add(c.ConfigMap(n.ID))
		claims, err := c.Claims(n.ID)
		add(claims, err)
		entry, err := c.Entry(n.ID, version)
		if err != nil {
			t.Fatal(err)
		}
		add(entry.Pod())
	}
	for _, d := range c.Components() {
		add(d, nil)
	}
	return out.String()
}

func TestRenderUpstreamExamples(t *testing.T) {
	files, err := filepath.Glob("../../../test/testdata/upstream/strimzi/*/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d example files (%v), want at least 10", len(files), err)
	}
	for _, file := range files {
		release := filepath.Base(filepath.Dir(file))
		name := release + "-" + filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			in := example(t, file)
			got := everything(t, New(in), in.Spec.Kafka.Version)
			golden := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%s; write it with -update", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("objects (-want +got), or write them anew with -update:\n%s", diff)
			}
		})
	}
}
