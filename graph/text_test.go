package graph

import (
	"fmt"
	"strings"
	"testing"
)

func TestTextKeepsWidth(t *testing.T) {
	for name, g := range map[string]Graph{"hello": hello(), "kafka": kafka(), "ceph": ceph()} {
		for _, width := range []int{0, 20, 40, 60, 80, 120} {
			for _, compact := range []bool{false, true} {
				o := TextOptions{Width: width, Compact: compact}
				limit := o
				limit.Width = max(width, textWidthLeast)
				if width == 0 {
					limit.Width = textWidthDefault
				}
				t.Run(fmt.Sprintf("%s/%d/compact %v", name, width, compact), func(t *testing.T) {
					if err := checkText(Text(g, kafkaLive(), o), limit); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

func TestTextContainsEveryStateAndEdge(t *testing.T) {
	for name, g := range map[string]Graph{"hello": hello(), "kafka": kafka(), "ceph": ceph()} {
		text := Text(g, nil, TextOptions{})
		for _, s := range g.States {
			if !strings.Contains(text, "○ "+s.Name) {
				t.Errorf("%s: state %s is missing", name, s.Name)
			}
		}
		for _, e := range g.Edges {
			if e.drawn() && !strings.Contains(text, e.Event) {
				t.Errorf("%s: event %s from %s is missing", name, e.Event, e.From)
			}
		}
	}
}

func TestTextShowsLiveObject(t *testing.T) {
	text := Text(kafka(), kafkaLive(), TextOptions{Compact: true})
	for what, want := range map[string]string{
		"the current state":          "▶ AwaitingInSync          ×3  4m31s  ◀ now",
		"a visited state":            "✓ AwaitingISR             ×2  2m10s",
		"the usual time of a future": "○ Soaking                     (30m)",
		"the guard that holds back":  "waiting for in-sync: expected 0 partitions under min ISR, observed",
		"the door that shuts":        "════════ one-way ════════",
		"the loop":                   "└─ ▶ AwaitingInSync",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", what, want, text)
		}
	}
}

func TestTextASCIIKeepsShape(t *testing.T) {
	unicode := strings.Split(Text(kafka(), kafkaLive(), TextOptions{}), "\n")
	plain := strings.Split(Text(kafka(), kafkaLive(), TextOptions{ASCII: true}), "\n")
	if len(unicode) != len(plain) {
		t.Fatalf("want %d lines, got %d", len(unicode), len(plain))
	}
	for i := range plain {
		if cells(unicode[i]) != len(plain[i]) {
			t.Errorf("line %d is %d cells wide in Unicode, %d in ASCII:\n%s\n%s", i+1, cells(unicode[i]), len(plain[i]), unicode[i], plain[i])
		}
	}
}

// Each rail is one continuous line from the state it leads to down to the last state it
// comes from.
func TestTextRailsAreContinuous(t *testing.T) {
	check := func(t *testing.T, g Graph, live *Live, o TextOptions) {
		l := arrange(g, live)
		d := &textDrawing{lanes: l}
		d.rails()
		lines := strings.Split(Text(g, live, o), "\n")
		heads := 0
		for c := range d.railed {
			open := false
			for i, line := range lines {
				cell := ' '
				if r := []rune(line); c < len(r) {
					cell = r[c]
				}
				switch {
				case cell == '┌' && !open:
					open = true
					heads++
				case cell == '└' && open:
					open = false
				case open && strings.ContainsRune("│├┼", cell), !open && cell != '│' && cell != '├' && cell != '└':
				default:
					t.Errorf("rail %d breaks at line %d, open %v: %q\n%s", c, i+1, open, line, strings.Join(lines, "\n"))
					return
				}
			}
			if open {
				t.Errorf("rail %d does not end", c)
			}
		}
		if heads != len(d.column) {
			t.Errorf("want %d rails, got %d\n%s", len(d.column), heads, strings.Join(lines, "\n"))
		}
	}
	for name, g := range map[string]Graph{"kafka": kafka(), "ceph": ceph()} {
		t.Run(name, func(t *testing.T) { check(t, g, nil, TextOptions{}) })
	}
	for seed := range uint64(300) {
		g := randomGraph(seed)
		g.Name, g.Doc = "", ""
		for _, compact := range []bool{false, true} {
			t.Run(fmt.Sprintf("random %d/compact %v", seed, compact), func(t *testing.T) {
				check(t, g, randomLive(g, seed), TextOptions{Width: 300, Compact: compact})
			})
		}
	}
}

func ExampleText() {
	g := Graph{
		Name: "hello", Initial: "Silent",
		States: []State{{Name: "Silent", Kind: Rest}, {Name: "Speaking", Kind: Work, Deadline: "1m"}, {Name: "Refused", Kind: Hold}},
		Edges: []Edge{
			{Event: "asked", From: "Silent", To: "Speaking"},
			{Event: "spoken", From: "Speaking", To: "Silent"},
			{Event: "forbidden", From: "Speaking", To: "Refused"},
		},
	}
	fmt.Print(Text(g, nil, TextOptions{}))
	// Output:
	// hello
	//
	// ┌▷ ○ Silent    rest
	// │  │ asked
	// └─ ○ Speaking  work ≤ 1m       ↑ spoken
	//                                ──forbidden──▷ Refused
	//
	//    off the main path
	//    ○ Refused   hold · refused
	//
	//   ↑ back along the rail
}
