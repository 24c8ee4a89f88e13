package graph

import (
	"strings"
	"testing"
)

func TestPagePicture(t *testing.T) {
	cases := map[string]struct {
		options PageOptions
		want    string
		absent  string
	}{
		"no picture given":        {PageOptions{}, "```mermaid\nstateDiagram-v2\n", "<img"},
		"one picture":             {PageOptions{Light: "hello.svg"}, `<img alt="State machine hello" src="hello.svg">`, "mermaid"},
		"one for each theme":      {PageOptions{Light: "l.svg", Dark: "d.svg"}, `<source media="(prefers-color-scheme: dark)" srcset="d.svg">`, "mermaid"},
		"an address with a quote": {PageOptions{Light: `a".svg`}, `src="a&#34;.svg"`, "mermaid"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			page := Page(hello(), tc.options)
			if !strings.Contains(page, tc.want) || strings.Contains(page, tc.absent) {
				t.Errorf("want %q and no %q in\n%s", tc.want, tc.absent, page)
			}
		})
	}
}

func TestPageOmitsEmptyColumns(t *testing.T) {
	page := Page(Graph{Name: "bare", States: states("A")}, PageOptions{})
	for _, absent := range []string{"## Transitions", "## Guards", "## Records", "Poll", "Deadline", "True while"} {
		if strings.Contains(page, absent) {
			t.Errorf("%q in a page of a machine that has none", absent)
		}
	}
	for _, want := range []string{"# bare", "## States", `<a id="state-a"></a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

func TestStateAnchor(t *testing.T) {
	for state, want := range map[string]string{"AwaitingISR": "state-awaitingisr", "a b/c": "state-a-b-c", `"><x`: "state-x", "": "state-"} {
		if got := StateAnchor(state); got != want {
			t.Errorf("%q: want %q, got %q", state, want, got)
		}
	}
}
