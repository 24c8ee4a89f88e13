package stage

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPageReplacesTheSectionsOfThisRunOnly(t *testing.T) {
	at := time.Date(2026, 11, 24, 4, 0, 0, 0, time.UTC)
	first := result("a Ceph is launched", 300, at)
	first.Notes = []string{"a figure of its own"}
	tests := []struct {
		name   string
		before string
		run    []Result
		want   map[string]string
	}{
		{
			name: "the first run", run: []Result{first},
			want: map[string]string{"a Ceph is launched": "## a Ceph is launched\n\nPassed after 300 s at 2026-11-24 04:00 UTC, load 3.50, revision abc.\n\n- a figure of its own"},
		},
		{
			name: "a run of another suite", before: page(t, "", first), run: []Result{result("a Kafka is upgraded", 60, at)},
			want: map[string]string{
				"a Ceph is launched":  "## a Ceph is launched\n\nPassed after 300 s at 2026-11-24 04:00 UTC, load 3.50, revision abc.\n\n- a figure of its own",
				"a Kafka is upgraded": "## a Kafka is upgraded\n\nPassed after 60 s at 2026-11-24 04:00 UTC, load 3.50, revision abc.",
			},
		},
		{
			name: "the same scenario again", before: page(t, "", first), run: []Result{result("a Ceph is launched", 90, at)},
			want: map[string]string{"a Ceph is launched": "## a Ceph is launched\n\nPassed after 90 s at 2026-11-24 04:00 UTC, load 3.50, revision abc."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, sectionsOf(page(t, tt.before, tt.run...))); diff != "" {
				t.Errorf("sections of the page (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPageOfTheDocumentation shows that a run of nothing changes no result on the page of this repository.
func TestPageOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/e2e.md")
	if err != nil {
		t.Fatal(err)
	}
	want := sectionsOf(string(text))
	if len(want) < 10 {
		t.Fatalf("the page has %d sections, which are not those of every suite", len(want))
	}
	if diff := cmp.Diff(want, sectionsOf(page(t, string(text)))); diff != "" {
		t.Errorf("sections of the page (-want +got):\n%s", diff)
	}
}

func result(scenario string, seconds float64, at time.Time) Result {
	return Result{Scenario: scenario, Seconds: seconds, At: at, Load: "3.50", Revision: "abc"}
}

// page returns the page after a run.
func page(t *testing.T, before string, run ...Result) string {
	t.Helper()
	r := Report{Results: run}
	text, err := r.Page(Versions{Kubernetes: "v1.34.4", Kernel: "6.1", Go: "go1.26", CPUs: 2}, before)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
