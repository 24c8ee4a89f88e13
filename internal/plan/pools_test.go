package plan_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/internal/plan"
)

// TestMakeNamesPoolsOfNoCluster names the node pools whose label or namespace keeps them from the cluster that has none.
func TestMakeNamesPoolsOfNoCluster(t *testing.T) {
	other := func(old, with string) string { return strings.Replace(pool, old, with, 1) }
	for name, tc := range map[string]struct {
		pools []string
		want  string
	}{
		"its own": {[]string{pool}, ""},
		"of another cluster, in another namespace, without a label": {
			[]string{other("my-cluster", "my-clutser"), other("{name: nodes,", "{name: far, namespace: prod,"), other("name: nodes, labels: {strimzi.io/cluster: my-cluster}", "name: plain")},
			"these KafkaNodePools are of no Kafka in the input, by their namespace and their label strimzi.io/cluster: " +
				"nodes in namespace default, of Kafka my-clutser, far in namespace prod, of Kafka my-cluster, plain in namespace default, without that label",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := read(documents(append([]string{cluster}, tc.pools...)...))
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Make(context.Background(), in, plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if i := slices.IndexFunc(p.Objects[0].Assumptions, func(a string) bool { return strings.HasPrefix(a, "these KafkaNodePools") }); i >= 0 {
				got = p.Objects[0].Assumptions[i]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("assumption (-want +got):\n%s", diff)
			}
		})
	}
}
