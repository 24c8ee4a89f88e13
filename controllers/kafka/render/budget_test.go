package render

import (
	"fmt"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
)

// A pod that is not ready may serve, so that its eviction needs the budget: docs/decisions/0013.
func TestBudget(t *testing.T) {
	for name, c := range map[string]struct {
		runs      int
		available string
	}{
		"no node runs":     {0, "0"},
		"one node":         {1, "0"},
		"two nodes":        {2, "1"},
		"all of the nodes": {6, "5"},
	} {
		t.Run(name, func(t *testing.T) {
			in := example(t, persistent)
			if len(in.Nodes) != 6 {
				t.Fatalf("%d nodes", len(in.Nodes))
			}
			for i := range in.Nodes {
				in.Nodes[i].Runs = i < c.runs
			}
			budget := New(in).Budget()
			got := fmt.Sprintf("%s available, %s", budget.Spec.MinAvailable, *budget.Spec.UnhealthyPodEvictionPolicy)
			if want := fmt.Sprintf("%s available, %s", c.available, policyv1.IfHealthyBudget); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
