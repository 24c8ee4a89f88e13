package plan_test

import (
	"context"
	"os"
	"testing"

	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/plan"
)

// A plan is made from arbitrary files: input that cannot be planned gives an error, and every other plan ends.
func FuzzPlan(f *testing.F) {
	for _, file := range []string{"snapshot-wait.yaml"} {
		content, err := os.ReadFile("testdata/cases/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte(documents(cluster, pool)))
	f.Add([]byte(documents(cluster, pool, world("nodes: [{id: -1}, {id: 99999999999}]\nlevels: {metadata.version: -5}\n"))))
	f.Add([]byte(documents(cluster, pool, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: my-cluster-nodes-0-record, labels: {strimzi.io/cluster: my-cluster}}\ndata: {id: x}\n")))
	f.Fuzz(func(t *testing.T, content []byte) {
		found, err := objects.Parse("in.yaml", content)
		if err != nil {
			return // no resources
		}
		in, err := readInput(kafkas(), found)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without words")
			}
			return
		}
		p, err := plan.Make(context.Background(), in, plan.Options{OperatorVersion: "0.0.0"})
		if err != nil {
			return
		}
		p.Text(plan.TextOptions{})
		if _, err := p.JSON(); err != nil {
			t.Fatal(err)
		}
	})
}
