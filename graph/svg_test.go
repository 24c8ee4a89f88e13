package graph

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestSVGShowsCurrentState(t *testing.T) {
	svg := SVG(kafka(), kafkaLive(), Light)
	for what, want := range map[string]string{
		"the current state, for assistive technology":   `data-state="AwaitingInSync" aria-current="step"`,
		"time, progress, current item and deadline":     "AwaitingInSync for 4m31s · 2 of 6 nodes, now 4 · deadline 09:01:02 UTC, in 25m29s",
		"what it waits for, with what was seen":         "waiting for in-sync: expected 0 partitions under min ISR, observed audit-0, orders-7, orders-9",
		"the guard on the edge that is held back":       "waits for in-sync: expected 0 partitions under min ISR",
		"how often a loop was walked":                   "in-sync ×2",
		"time spent and the usual time":                 "×2 · 2m10s · usually 1m30s",
		"what is one-way, in words":                     "finalize · one-way",
		"where a changed target leads":                  "A changed target leads to Checking.",
		"edges from everywhere in a line, not as lines": "inferred: from any state → Settled, Checking, AwaitingReady, Verifying, Inferring",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s: no %q in the picture", what, want)
		}
	}
	if n := strings.Count(svg, "aria-current"); n != 1 {
		t.Errorf("want one current state, got %d", n)
	}
}

func TestSVGWithoutLiveHasNoCurrentState(t *testing.T) {
	svg := SVG(kafka(), nil, Light)
	for _, absent := range []string{"aria-current", ">now<", ">visited<", ">guard not met<"} {
		if strings.Contains(svg, absent) {
			t.Errorf("%q in a picture without an object", absent)
		}
	}
}

func TestSVGOfUnknownState(t *testing.T) {
	svg := SVG(hello(), &Live{State: "Shouting"}, Light)
	at := strings.Index(svg, `data-state="Shouting" aria-current="step"`)
	if at < 0 {
		t.Fatal("the unknown state is not drawn as the current one")
	}
	if !strings.Contains(svg[at:], "unknown to this client") {
		t.Error("the box does not say that the state is unknown")
	}
}

func TestSVGIsSelfContained(t *testing.T) {
	for name, svg := range map[string]string{"definition": SVG(kafka(), nil, Light), "live": SVG(ceph(), cephLive(), Dark)} {
		t.Run(name, func(t *testing.T) {
			if err := checkSVG(svg); err != nil {
				t.Error(err)
			}
			for _, absent := range []string{"var(", "url(", "href", "class=", " style=", " id=", "currentColor"} {
				if strings.Contains(svg, absent) {
					t.Errorf("%q: the picture leans on something outside of it", absent)
				}
			}
		})
	}
}

func TestSVGTextIsLargeEnough(t *testing.T) {
	for _, m := range regexp.MustCompile(`font-size="([0-9.]+)"`).FindAllStringSubmatch(SVG(kafka(), kafkaLive(), Light), -1) {
		if size, err := strconv.ParseFloat(m[1], 64); err != nil || size < 11 {
			t.Errorf("font size %s: want at least 11", m[1])
		}
	}
}

func TestSVGStatesAreFocusableInReadingOrder(t *testing.T) {
	var got []string
	for _, m := range regexp.MustCompile(`tabindex="0" data-state="([^"]*)"`).FindAllStringSubmatch(SVG(ceph(), nil, Light), -1) {
		got = append(got, m[1])
	}
	want := "Settled DetectingVersion Preflight SelectingDaemon AwaitingHealth AwaitingOkToStop ReplacingDaemon AwaitingDaemon " +
		"ComponentDone RequiringRelease Finalizing Refused Inferring DeadOSD StorageLost AwaitingAdmin PolicyRemoved"
	if strings.Join(got, " ") != want {
		t.Errorf("want %s\ngot  %s", want, strings.Join(got, " "))
	}
}

// Colour is never the only sign: each look also has a shape, a mark or a word.
func TestSVGThemesDifferOnlyInColours(t *testing.T) {
	colour := regexp.MustCompile(`#[0-9a-f]{6}`)
	light, dark := SVG(kafka(), kafkaLive(), Light), SVG(kafka(), kafkaLive(), Dark)
	if light == dark {
		t.Error("the themes are the same")
	}
	if colour.ReplaceAllString(light, "#") != colour.ReplaceAllString(dark, "#") {
		t.Error("the themes differ in more than colours")
	}
}

func TestSVGKeysAreThoseThatOccur(t *testing.T) {
	cases := map[string]struct {
		graph Graph
		live  *Live
		want  []string
	}{
		"a plain machine":            {hello(), nil, []string{"rest", "work", "way back"}},
		"a machine with everything":  {kafka(), nil, []string{"rest", "work", "wait", "hold: needs a user", "way back", "one-way, cannot be undone"}},
		"an object that waits":       {hello(), &Live{State: "Speaking", Visited: map[string]int{"Silent": 1}, Waiting: []Waiting{{Guard: "greeting-written"}}}, []string{"now", "visited", "rest", "work", "way back", "guard not met"}},
		"an object that is lost":     {hello(), &Live{State: "Shouting"}, []string{"now", "rest", "work", "way back"}},
		"an end not declared":        {Graph{States: states("A"), Edges: edges("A", "Ghost")}, nil, []string{"wait", "not in this graph"}},
		"nothing at all is declared": {Graph{}, nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &drawing{picture: layOut(arrange(tc.graph, tc.live), tc.live), live: tc.live, c: colours(Light), g: tc.graph}
			var got []string
			for _, k := range d.keys() {
				got = append(got, k.text)
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("want keys %q, got %q", tc.want, got)
			}
		})
	}
}

func TestSVGTextFitsInBox(t *testing.T) {
	long := State{Name: strings.Repeat("VeryLong", 12), Kind: Work, Deadline: strings.Repeat("words and ", 12)}
	g := Graph{Name: "long", Initial: long.Name, States: []State{long}}
	frame := layOut(arrange(g, nil), nil).frames[0]
	if frame.w != boxMaxWidth {
		t.Errorf("want the widest box, %d, got %d", boxMaxWidth, frame.w)
	}
	for _, m := range regexp.MustCompile(`<text x="(\d+)"[^>]*font-size="(\d+)"[^>]*>([^<]*…)</text>`).FindAllStringSubmatch(SVG(g, nil, Light), -1) {
		size, _ := strconv.Atoi(m[2])
		if w := textWidth(m[3], size, size == nameSize); size != titleSize && w > frame.w-iconRoom-boxInset {
			t.Errorf("%q is %d wide in a box of %d", m[3], w, frame.w)
		}
	}
}

func TestSVGOmitsUnknownProperties(t *testing.T) {
	g := Graph{Initial: "A", States: []State{{Name: "A"}}, Edges: edges("A", "Ghost")}
	svg := SVG(g, &Live{State: "Newer"}, Light)
	for name, want := range map[string]string{"Ghost": notDeclared, "Newer": notKnown} {
		_, box, _ := strings.Cut(svg, `data-state="`+name+`"`)
		if _, title, _ := strings.Cut(box, "<title>"); !strings.HasPrefix(title, name+", "+want) {
			t.Errorf("state %s: want %q", name, want)
		}
	}
	_, box, _ := strings.Cut(svg, `data-state="A"`)
	if box, _, found := strings.Cut(box, "</g>"); !found || strings.Contains(box, "?") {
		t.Error("a declared state without a kind is drawn as an unknown one")
	}
}
