package graph

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomGraph is a random graph, of every size that a machine may have, with unreachable
// states, self-loops, parallel edges, lanes and fragments.
func randomGraph(seed uint64) Graph {
	r := rand.New(rand.NewPCG(seed, 7))
	word := func() string {
		return strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(12)) + []string{"", "-W", "Mmm", "本", "."}[r.IntN(5)]
	}
	g := Graph{Name: word()}
	for i := range r.IntN(31) {
		g.States = append(g.States, State{
			Name: fmt.Sprintf("%s%d", word(), i), Kind: []Kind{Rest, Work, Wait, Wait, Hold, ""}[r.IntN(6)], Planned: r.IntN(2) == 0,
			Lane: []Lane{"", "", "", Main, Side}[r.IntN(5)], Group: []string{"", "", "roll", "drain"}[r.IntN(4)], Deadline: []string{"", "10m", word()}[r.IntN(3)],
		})
	}
	if len(g.States) == 0 {
		return g
	}
	g.Initial = g.States[r.IntN(len(g.States))].Name
	if seed%4 == 0 { // a tidy machine: everything on the spine
		g.Initial = g.States[0].Name
		for i := range g.States {
			g.States[i].Lane = Main
		}
	}
	for i := range r.IntN(3 * len(g.States)) {
		from := r.IntN(len(g.States))
		to := min(from+1, len(g.States)-1)
		if r.IntN(2) == 0 {
			to = r.IntN(len(g.States))
		}
		event := fmt.Sprintf("%s%d", strings.Repeat(word(), 1+r.IntN(4)), i)
		g.Edges = append(g.Edges, Edge{Event: event, From: g.States[from].Name, To: g.States[to].Name, OneWay: r.IntN(5) == 0})
	}
	if r.IntN(4) == 0 {
		g.Edges = append(g.Edges, Edge{Event: "from-nowhere", From: "Nowhere", To: g.Initial})
	}
	return g
}

func randomLive(g Graph, seed uint64) *Live {
	r := rand.New(rand.NewPCG(seed, 11))
	if len(g.States) == 0 || r.IntN(3) == 0 {
		return nil
	}
	live := &Live{State: g.States[r.IntN(len(g.States))].Name, Visited: map[string]int{}, Progress: &Progress{Done: 1, Total: 12, Unit: "node"}}
	for _, e := range g.Edges {
		if n := r.IntN(40); n < 20 {
			live.Walked = append(live.Walked, Walk{e.Event, e.From, e.To, n})
			live.Visited[e.To] += n
		}
	}
	return live
}

func eachLayout(t *testing.T, check func(t *testing.T, p *picture)) {
	t.Helper()
	for name, g := range map[string]Graph{"hello": hello(), "kafka": kafka(), "ceph": ceph()} {
		t.Run(name, func(t *testing.T) { check(t, layOut(arrange(g, nil), nil)) })
	}
	t.Run("kafka live", func(t *testing.T) { check(t, layOut(arrange(kafka(), kafkaLive()), kafkaLive())) })
	for seed := range uint64(400) {
		g := randomGraph(seed)
		live := randomLive(g, seed)
		t.Run(fmt.Sprintf("random %d", seed), func(t *testing.T) { check(t, layOut(arrange(g, live), live)) })
	}
}

func (r rect) overlaps(o rect) bool {
	return r.x < o.right() && o.x < r.right() && r.y < o.bottom() && o.y < r.bottom()
}

func TestLayOutBoxesDoNotOverlap(t *testing.T) {
	eachLayout(t, func(t *testing.T, p *picture) {
		for i, a := range p.frames {
			for j, b := range p.frames[:i] {
				if a.overlaps(b) {
					t.Errorf("%s at %v overlaps %s at %v", p.boxes[i].Name, a, p.boxes[j].Name, b)
				}
			}
		}
	})
}

func TestLayOutLabelsDoNotOverlap(t *testing.T) {
	eachLayout(t, func(t *testing.T, p *picture) {
		for i, ln := range p.lines {
			for j, frame := range p.frames {
				if ln.label.overlaps(frame) {
					t.Errorf("label %q at %v overlaps box %s at %v", ln.label.lines, ln.label.rect, p.boxes[j].Name, frame)
				}
			}
			for _, other := range p.lines[:i] {
				if ln.label.overlaps(other.label.rect) {
					t.Errorf("label %q at %v overlaps label %q at %v", ln.label.lines, ln.label.rect, other.label.lines, other.label.rect)
				}
			}
		}
	})
}

// stroke is the area of one straight part of a line, without its ends.
func stroke(a, b point) rect {
	x, y := min(a.x, b.x), min(a.y, b.y)
	if a.y == b.y {
		return rect{x + 1, y, max(a.x, b.x) - x - 2, 1}
	}
	return rect{x, y + 1, 1, max(a.y, b.y) - y - 2}
}

func TestLayOutLinesAvoidBoxesAndLabels(t *testing.T) {
	eachLayout(t, func(t *testing.T, p *picture) {
		for _, ln := range p.lines {
			for k := 1; k < len(ln.points); k++ {
				part := stroke(ln.points[k-1], ln.points[k])
				for j, frame := range p.frames {
					if part.overlaps(frame) {
						t.Errorf("line %q runs through box %s", ln.label.lines, p.boxes[j].Name)
					}
				}
				for _, other := range p.lines {
					if part.overlaps(other.label.rect) {
						t.Errorf("line %q runs through label %q", ln.label.lines, other.label.lines)
					}
				}
			}
		}
	})
}

// Lines may cross, and may share a bus if they end in the same state. Otherwise no two may
// coincide, because a reader could not distinguish them.
func TestLayOutLinesToDifferentStatesDoNotCoincide(t *testing.T) {
	eachLayout(t, func(t *testing.T, p *picture) {
		for i, a := range p.lines {
			for _, b := range p.lines[:i] {
				if a.wire.to != b.wire.to && shareAStretch(a.points, b.points) {
					t.Errorf("lines %q and %q lie on each other", a.label.lines, b.label.lines)
				}
			}
		}
	})
}

func shareAStretch(a, b []point) bool {
	for i := 1; i < len(a); i++ {
		for j := 1; j < len(b); j++ {
			p, q := stroke(a[i-1], a[i]), stroke(b[j-1], b[j])
			if (p.h == 1) == (q.h == 1) && p.overlaps(q) {
				return true
			}
		}
	}
	return false
}

func TestLayOutIsInsidePicture(t *testing.T) {
	eachLayout(t, func(t *testing.T, p *picture) {
		inside := func(what string, r rect) {
			if r.x < 0 || r.y < 0 || r.right() > p.width || r.bottom() > p.height {
				t.Errorf("%s at %v is outside of %d by %d", what, r, p.width, p.height)
			}
		}
		for i, frame := range p.frames {
			inside("box "+p.boxes[i].Name, frame)
		}
		for _, ln := range p.lines {
			inside(fmt.Sprintf("label %q", ln.label.lines), ln.label.rect)
			for _, pt := range ln.points {
				inside(fmt.Sprintf("line %q", ln.label.lines), rect{pt.x, pt.y, 0, 0})
			}
		}
		for _, b := range p.bands {
			inside("band "+b.name, b.rect)
		}
	})
}

func TestLayOutLinesBeginAndEndAtBoxes(t *testing.T) {
	eachLayout(t, func(t *testing.T, p *picture) {
		for _, ln := range p.lines {
			if at := ln.points[0]; !onBorder(p.frames[ln.wire.from], at) {
				t.Errorf("line %q begins at %v, not on %v", ln.label.lines, at, p.frames[ln.wire.from])
			}
			if at := ln.points[len(ln.points)-1]; !onBorder(p.frames[ln.wire.to], at) {
				t.Errorf("line %q ends at %v, not on %v", ln.label.lines, at, p.frames[ln.wire.to])
			}
		}
	})
}

func onBorder(r rect, p point) bool {
	inX, inY := r.x <= p.x && p.x <= r.right(), r.y <= p.y && p.y <= r.bottom()
	return inX && inY && (p.x == r.x || p.x == r.right() || p.y == r.y || p.y == r.bottom())
}

func TestLayOutDrawsDeclaredEdgesOnce(t *testing.T) {
	eachLayout(t, func(t *testing.T, p *picture) {
		if len(p.lines) != len(p.wires) {
			t.Errorf("want %d lines, one per pair of linked states, got %d", len(p.wires), len(p.lines))
		}
	})
	drawn := 0
	for _, ln := range layOut(arrange(kafka(), nil), nil).lines {
		drawn += len(ln.wire.edges)
	}
	if want := 25; drawn != want {
		t.Errorf("Kafka's version change: want %d declared edges on lines, got %d", want, drawn)
	}
}

// The layout must not change while counts increase.
func TestLayOutIsIndependentOfCounts(t *testing.T) {
	before, after := kafkaLive(), kafkaLive()
	before.Walked, before.Visited = nil, nil
	for i := range after.Walked {
		after.Walked[i].Count = 88
	}
	a, b := layOut(arrange(kafka(), before), before), layOut(arrange(kafka(), after), after)
	for i := range a.frames {
		if a.frames[i] != b.frames[i] {
			t.Errorf("box %s moved from %v to %v", a.boxes[i].Name, a.frames[i], b.frames[i])
		}
	}
}

func TestColumnsSeparateOverlappingSpans(t *testing.T) {
	cases := map[string]struct {
		spans []span
		want  []int
		count int
	}{
		"none":                                  {nil, nil, 0},
		"apart, so they share a column":         {[]span{{lo: 0, hi: 10}, {lo: 30, hi: 40}}, []int{0, 0}, 1},
		"closer than the gap":                   {[]span{{lo: 0, hi: 10}, {lo: 14, hi: 24}}, []int{0, 1}, 2},
		"nested: the short one is near":         {[]span{{lo: 0, hi: 100, near: []int{0, 100}}, {lo: 40, hi: 60, near: []int{40, 60}}}, []int{1, 0}, 2},
		"an outer one is outside of all":        {[]span{{lo: 0, hi: 10, outer: true}, {lo: 0, hi: 100}}, []int{1, 0}, 2},
		"far ends turn the order round":         {[]span{{lo: 40, hi: 60, far: []int{40, 60}}, {lo: 0, hi: 100, far: []int{0, 100}}}, []int{1, 0}, 2},
		"a chain of overlaps needs two columns": {[]span{{lo: 0, hi: 30}, {lo: 20, hi: 50}, {lo: 45, hi: 90}}, []int{0, 1, 0}, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, count := columns(tc.spans, 8)
			if fmt.Sprint(got) != fmt.Sprint(tc.want) && len(tc.spans) > 0 || count != tc.count {
				t.Errorf("want columns %v of %d, got %v of %d", tc.want, tc.count, got, count)
			}
		})
	}
}
