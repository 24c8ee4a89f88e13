package graph

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// golden compares with a file under testdata, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatalf("making testdata: %v", err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatalf("writing golden file: %v", err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("reading golden file (go test ./graph -update writes it): %v", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); if that is meant, go test ./graph -update\n%s", file, diff)
	}
}

// renderers are all outputs of a graph, by the suffix of their golden file.
var renderers = map[string]func(*testing.T, Graph, *Live) string{
	"light.svg": func(_ *testing.T, g Graph, l *Live) string { return SVG(g, l, Light) },
	"dark.svg":  func(_ *testing.T, g Graph, l *Live) string { return SVG(g, l, Dark) },
	"txt":       func(_ *testing.T, g Graph, l *Live) string { return Text(g, l, TextOptions{}) },
	"compact.txt": func(_ *testing.T, g Graph, l *Live) string {
		return Text(g, l, TextOptions{Compact: true})
	},
	"ascii.txt": func(_ *testing.T, g Graph, l *Live) string { return Text(g, l, TextOptions{ASCII: true}) },
	"mmd":       func(_ *testing.T, g Graph, l *Live) string { return Mermaid(g, l) },
	"dot":       func(_ *testing.T, g Graph, l *Live) string { return DOT(g, l) },
	"md":        func(_ *testing.T, g Graph, _ *Live) string { return Page(g, PageOptions{}) },
	"json": func(t *testing.T, g Graph, l *Live) string {
		b, err := JSON(g, l)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	},
}

func TestRenderersGoldenFiles(t *testing.T) {
	cases := map[string]struct {
		graph   Graph
		live    *Live
		endings []string
	}{
		"hello":      {hello(), nil, []string{"light.svg", "dark.svg", "txt", "mmd", "dot", "md", "json"}},
		"kafka":      {kafka(), nil, []string{"light.svg", "dark.svg", "txt", "mmd", "dot", "md"}},
		"kafka-live": {kafka(), kafkaLive(), []string{"light.svg", "dark.svg", "txt", "compact.txt", "ascii.txt", "mmd", "dot"}},
		"ceph":       {ceph(), nil, []string{"light.svg", "dark.svg", "txt", "mmd", "dot", "md"}},
		"ceph-live":  {ceph(), cephLive(), []string{"dark.svg", "compact.txt"}},
		"empty":      {Graph{Name: "empty", Doc: "declares nothing yet"}, nil, []string{"light.svg", "txt", "mmd", "dot", "md", "json"}},
		"unknown":    {hello(), &Live{State: "Shouting"}, []string{"light.svg", "txt", "mmd", "dot"}},
	}
	for name, tc := range cases {
		for _, ending := range tc.endings {
			t.Run(name+"."+ending, func(t *testing.T) {
				golden(t, name+"."+ending, renderers[ending](t, tc.graph, tc.live))
			})
		}
	}
}

func TestRenderersAreDeterministic(t *testing.T) {
	for ending, render := range renderers {
		t.Run(ending, func(t *testing.T) {
			want := render(t, kafka(), kafkaLive())
			for range 20 {
				if diff := cmp.Diff(want, render(t, kafka(), kafkaLive())); diff != "" {
					t.Fatalf("two runs differ (-first +later):\n%s", diff)
				}
			}
		})
	}
}
