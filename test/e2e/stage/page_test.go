package stage

import (
	"os"
	"regexp"
	"slices"
	"strings"
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
	text := documentation(t)
	want := sectionsOf(text)
	if len(want) < 10 {
		t.Fatalf("the page has %d sections, which are not those of every suite", len(want))
	}
	if diff := cmp.Diff(want, sectionsOf(page(t, text))); diff != "" {
		t.Errorf("sections of the page (-want +got):\n%s", diff)
	}
	for _, part := range []string{head, beside} {
		if !strings.Contains(text, part) {
			t.Errorf("docs/e2e.md does not contain what a run writes: copy this into it\n%s", part)
		}
	}
}

// TestLinksToScenarios follows the links of the comparison on the page of this repository. A heading is linked by its letters and digits in
// lower case, with hyphens instead of spaces.
func TestLinksToScenarios(t *testing.T) {
	var headings []string
	for scenario := range sectionsOf(documentation(t)) {
		headings = append(headings, strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(scenario), ""), " ", "-"))
	}
	links := regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(beside, -1)
	if len(links) < 5 {
		t.Errorf("%d links to scenarios, want at least 5", len(links))
	}
	for _, link := range links {
		if !slices.Contains(headings, link[1]) {
			t.Errorf("no scenario has the heading #%s", link[1])
		}
	}
}

// documentation returns the page of this repository.
func documentation(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/e2e.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
