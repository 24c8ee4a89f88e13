package graph

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestShortDuration(t *testing.T) {
	cases := map[time.Duration]string{
		-time.Second: "0ms", 250 * time.Millisecond: "250ms", 42 * time.Second: "42s", time.Minute: "1m",
		4*time.Minute + 31*time.Second: "4m31s", time.Hour: "1h", 2*time.Hour + 12*time.Minute + 59*time.Second: "2h12m",
		24 * time.Hour: "1d", 6*24*time.Hour + 3*time.Hour: "6d3h",
	}
	for d, want := range cases {
		if got := shortDuration(d); got != want {
			t.Errorf("%v: want %q, got %q", d, want, got)
		}
	}
}

func TestLiveHeadline(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		live *Live
		want string
	}{
		"no object":          {nil, ""},
		"no state yet":       {&Live{}, ""},
		"a state alone":      {&Live{State: "A"}, "A"},
		"time in state":      {&Live{State: "A", EnteredAt: now.Add(-90 * time.Second), Now: now}, "A for 1m30s"},
		"progress":           {&Live{State: "A", Progress: &Progress{Done: 1, Total: 1, Unit: "node"}}, "A · 1 of 1 node"},
		"progress, no unit":  {&Live{State: "A", Progress: &Progress{Done: 1, Total: 3, Current: "4"}}, "A · 1 of 3 done, now 4"},
		"deadline ahead":     {&Live{State: "A", Now: now, Deadline: now.Add(time.Minute)}, "A · deadline 09:01:00 UTC, in 1m"},
		"deadline passed":    {&Live{State: "A", Now: now, Deadline: now.Add(-time.Hour)}, "A · deadline 08:00:00 UTC, passed 1h ago"},
		"deadline, no clock": {&Live{State: "A", Deadline: now}, "A · deadline 09:00:00 UTC"},
		"another time zone":  {&Live{State: "A", Deadline: now.In(time.FixedZone("east", 7200))}, "A · deadline 09:00:00 UTC"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.live.headline(); got != tc.want {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestLiveBlocks(t *testing.T) {
	live := &Live{State: "A", Waiting: []Waiting{{Guard: "in-sync", Observed: "x"}}}
	cases := map[string]struct {
		live *Live
		edge Edge
		want bool
	}{
		"the guard itself":               {live, Edge{From: "A", Guard: "in-sync"}, true},
		"the guard in a combination":     {live, Edge{From: "A", Guard: "all(ready, not(in-sync))"}, true},
		"a guard whose name contains it": {live, Edge{From: "A", Guard: "not-in-sync"}, false},
		"an edge of another state":       {live, Edge{From: "B", Guard: "in-sync"}, false},
		"an edge without a guard":        {live, Edge{From: "A"}, false},
		"no object":                      {nil, Edge{From: "A", Guard: "in-sync"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, got := tc.live.blocks(tc.edge); got != tc.want {
				t.Errorf("want %v, got %v", tc.want, got)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	abc := states("A", "B", "C", "D", "E", "F")
	from := func(class Class, to string, names ...string) []Edge {
		var list []Edge
		for _, name := range names {
			list = append(list, Edge{Event: "x", From: name, To: to, Class: class})
		}
		return list
	}
	cases := map[string]struct {
		edges []Edge
		want  []string
	}{
		"declared edges are drawn":    {edges("A", "B"), nil},
		"from everywhere by name":     {from(Inferred, "A", AnyState), []string{"inferred: from any state → A"}},
		"from every other state":      {from(Inferred, "A", "B", "C", "D", "E", "F"), []string{"inferred: from any state → A"}},
		"one start, many ends":        {append(from(Inferred, "A", AnyState), from(Inferred, "B", AnyState)...), []string{"inferred: from any state → A, B"}},
		"all but a few":               {from(TargetChanged, "A", "A", "B", "C", "D"), []string{"target changed: from any state but E, F → A"}},
		"a few":                       {from(TargetChanged, "A", "B", "C"), []string{"target changed: from B, C → A"}},
		"a state of an older binary":  {from(Migrated, "A", "Old"), []string{"migrated: from Old → A"}},
		"a deletion":                  {from(DeletionRequested, "B", AnyState), []string{"deletion requested: from any state → B"}},
		"a declared edge from all":    {from(Declared, "B", AnyState), []string{"declared: from any state → B"}},
		"different starts stay apart": {append(from(Inferred, "A", "B"), from(Inferred, "B", "C")...), []string{"inferred: from B → A; from C → B"}},
		"each class has its own line": {append(from(Inferred, "A", "B"), from(Migrated, "A", "Old")...), []string{"inferred: from B → A", "migrated: from Old → A"}},
		"an edge to itself adds none": {from(TargetChanged, "A", "A"), []string{"target changed: from A → A"}},
		"a start is named once":       {append(from(Inferred, "A", "B"), from(Inferred, "A", "B")...), []string{"inferred: from B → A"}},
		"five named starts are counted": {append(from(Migrated, "A", "V", "W", "X"), from(Migrated, "A", "Y", "Z")...),
			[]string{"migrated: from V, W, X and 2 more → A"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Summary(Graph{States: abc, Edges: tc.edges})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
