package nodeids

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/transitions"
)

type poolCase struct {
	Replicas int     `json:"replicas"`
	IDs      []int32 `json:"ids"`
	Leaving  []int32 `json:"leaving"`
	Unproven []int32 `json:"unproven"`
	Next     string  `json:"next"`
	Remove   string  `json:"remove"`
	Frozen   string  `json:"frozen"`
}

type assignCase struct {
	Name     string     `json:"name"`
	Why      string     `json:"why"`
	Pools    []poolCase `json:"pools"`
	Reserved []int32    `json:"reserved"`
	Known    []int32    `json:"known"`
	Want     []struct {
		Desired []int32 `json:"desired"`
		Pending []int32 `json:"pending"`
		Added   []int32 `json:"added"`
		Removed []int32 `json:"removed"`
	} `json:"want"`
	Refusal  []string `json:"refusal"`
	Warnings []string `json:"warnings"`
}

func TestAssign(t *testing.T) {
	data, err := os.ReadFile("testdata/assign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []assignCase
	if err := yaml.UnmarshalStrict(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 20 {
		t.Fatalf("testdata/assign.yaml holds %d cases, want at least 20", len(cases))
	}
	for _, tc := range cases {
		t.Run(tc.Name, func(t *testing.T) {
			var pools []Pool
			var want []Assignment
			for i, p := range tc.Pools {
				name := "pool" + string(rune('a'+i))
				var frozen *transitions.Problem
				if p.Frozen != "" {
					frozen = transitions.Problemf(ReasonFrozen, "%s", p.Frozen)
				}
				pools = append(pools, Pool{Name: name, Replicas: p.Replicas, IDs: p.IDs, Leaving: p.Leaving, Unproven: p.Unproven, Next: p.Next, Remove: p.Remove, Frozen: frozen})
				want = append(want, Assignment{Pool: name, Wanted: tc.Want[i].Desired, Pending: tc.Want[i].Pending, Added: tc.Want[i].Added, Removed: tc.Want[i].Removed})
			}
			got := Assign(pools, Reserved{Remembered: tc.Reserved, Known: tc.Known})
			if diff := cmp.Diff(want, got.Pools, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: assignments (-want +got):\n%s", tc.Why, diff)
			}
			var reasons []string
			for _, w := range got.Warnings {
				reasons = append(reasons, w.Pool+" "+w.Reason)
			}
			if diff := cmp.Diff(tc.Warnings, reasons, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: warnings (-want +got):\n%s", tc.Why, diff)
			}
			if (len(tc.Refusal) > 0) != (got.Refusal != nil) {
				t.Errorf("%s: refusal %v, want %v", tc.Why, got.Refusal, tc.Refusal)
			}
			for _, word := range tc.Refusal {
				if !strings.Contains(got.Refusal.Message, word) {
					t.Errorf("%s: refusal %q does not name %q", tc.Why, got.Refusal.Message, word)
				}
			}
		})
	}
}

// A user may write any range; its cost is limited by the number of nodes.
func TestAssignOfHugeRanges(t *testing.T) {
	start := time.Now()
	pools := []Pool{{Name: "a", Replicas: 1, IDs: []int32{5, 6, 7}, Remove: "[0-4, 2147483647-100, 8-2147483647]", Next: "[0-2147483647]"}}
	got := Assign(pools, Reserved{})
	if diff := cmp.Diff([]int32{6, 7}, got.Pools[0].Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("took %s", took)
	}
}

// Deciding again after the ids were committed changes nothing.
func TestAssignIsStable(t *testing.T) {
	pools := []Pool{
		{Name: "a", Replicas: 5, IDs: []int32{0, 1, 2}, Next: "[10-11]"},
		{Name: "b", Replicas: 1, IDs: []int32{3, 4, 5}, Remove: "[3]"},
	}
	first := Assign(pools, Reserved{})
	for i := range pools {
		a := first.Pools[i]
		pools[i].IDs = append(append([]int32{}, a.Wanted...), a.Removed...)
		pools[i].Leaving = a.Removed
	}
	second := Assign(pools, Reserved{})
	for i := range pools {
		if diff := cmp.Diff(first.Pools[i].Wanted, second.Pools[i].Wanted); diff != "" {
			t.Errorf("pool %s is wanted anew (-first +second):\n%s", pools[i].Name, diff)
		}
		if len(second.Pools[i].Added) > 0 {
			t.Errorf("pool %s gets %v again", pools[i].Name, second.Pools[i].Added)
		}
	}
}

// An object that was stored under another schema may declare any number of replicas. None may cost more than a pool may have.
func TestAssignLimitsReplicas(t *testing.T) {
	got := Assign([]Pool{{Name: "a", Replicas: 20_000_000, IDs: []int32{0}}}, Reserved{})
	if n := len(got.Pools[0].Wanted); n != MaxReplicas {
		t.Errorf("%d nodes, want %d", n, MaxReplicas)
	}
	if len(got.Warnings) != 1 || got.Warnings[0].Reason != ReasonTooMany || !strings.Contains(got.Warnings[0].Message, "20000000") {
		t.Errorf("warnings %+v, want one that names the replicas", got.Warnings)
	}
}

// What Kafka has to be asked for is left out, and nothing else of the plan.
func TestWithhold(t *testing.T) {
	pools := []Pool{
		{Name: "brokers", Replicas: 4, IDs: []int32{0, 1, 7}, Unproven: []int32{7}},
		{Name: "controllers", Replicas: 1, Controllers: true},
		{Name: "shrinking", Replicas: 1, IDs: []int32{10, 11}},
	}
	plan := Assign(pools, Reserved{})
	for name, tc := range map[string]struct {
		problem  *transitions.Problem
		warnings []Warning
	}{
		"an answer is awaited": {},
		"nothing answers": {problem: transitions.Problemf(ReasonWithheld, "Kafka is silent"), warnings: []Warning{
			{Pool: "brokers", Reason: ReasonWithheld, Message: "KafkaNodePool brokers does not get 2 of its 4 nodes yet: Kafka is silent"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			want := Plan{Warnings: tc.warnings, Pools: []Assignment{
				{Pool: "brokers", Wanted: []int32{0, 1}, Withheld: 2},
				{Pool: "controllers", Wanted: []int32{3}, Added: []int32{3}},
				{Pool: "shrinking", Wanted: []int32{10}, Removed: []int32{11}},
			}}
			if diff := cmp.Diff(want, plan.Withhold(pools, tc.problem), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
	if !plan.Creates() || len(plan.Pools[0].Wanted) != 4 {
		t.Errorf("the plan itself was changed: %+v", plan)
	}
}
