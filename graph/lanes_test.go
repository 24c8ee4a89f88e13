package graph

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chart describes lanes: the names down the spine, and those of the side lane by row.
func chart(l *lanes) (spine []string, side map[string]int) {
	side = map[string]int{}
	for _, i := range l.spine {
		spine = append(spine, l.boxes[i].Name)
	}
	for row, i := range l.side {
		if i >= 0 {
			side[l.boxes[i].Name] = row
		}
	}
	return spine, side
}

func states(names ...string) []State {
	var list []State
	for _, name := range names {
		kind := Wait
		if name[0] == 'H' {
			kind = Hold
		}
		list = append(list, State{Name: name, Kind: kind})
	}
	return list
}

func edges(pairs ...string) []Edge {
	var list []Edge
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, Edge{Event: pairs[i] + "-" + pairs[i+1], From: pairs[i], To: pairs[i+1]})
	}
	return list
}

func TestArrangeLanes(t *testing.T) {
	hinted := states("A", "B", "H1")
	hinted[1].Lane, hinted[2].Lane = Side, Main
	planned := states("A", "H1", "B")
	planned[1].Planned = true
	cases := map[string]struct {
		reason    string
		graph     Graph
		live      *Live
		wantSpine []string
		wantSide  map[string]int
	}{
		"nothing declared": {
			reason: "an empty machine is drawn as nothing, not refused",
			graph:  Graph{},
		},
		"declaration order is the order of the spine": {
			reason: "the author writes the happy path down in its order",
			graph:  Graph{Initial: "A", States: states("A", "B", "C"), Edges: edges("A", "C", "C", "B")}, wantSpine: []string{"A", "B", "C"},
		},
		"the start comes first wherever it is declared": {
			reason: "row 0 is where ways back to the start arrive",
			graph:  Graph{Initial: "C", States: states("A", "B", "C"), Edges: edges("C", "A", "A", "B")}, wantSpine: []string{"C", "A", "B"},
		},
		"without a known start the first state is it": {
			reason: "a wrong name must not hide the picture",
			graph:  Graph{Initial: "Z", States: states("A", "B"), Edges: edges("A", "B")}, wantSpine: []string{"A", "B"},
		},
		"holds are next to the state that leads to them": {
			reason: "a refusal is read next to what refused",
			graph:  Graph{Initial: "A", States: states("A", "B", "C", "H1"), Edges: edges("A", "B", "B", "C", "C", "H1")}, wantSpine: []string{"A", "B", "C"}, wantSide: map[string]int{"H1": 2},
		},
		"two holds of one state stand below each other": {
			reason: "each has its own row",
			graph:  Graph{Initial: "A", States: states("A", "B", "C", "D", "H1", "H2"), Edges: edges("A", "B", "B", "C", "C", "D", "B", "H1", "B", "H2")}, wantSpine: []string{"A", "B", "C", "D"}, wantSide: map[string]int{"H1": 1, "H2": 2},
		},
		"holds of the last state move up rather than lengthen the picture": {
			reason: "rows above are free",
			graph:  Graph{Initial: "A", States: states("A", "B", "C", "H1", "H2"), Edges: edges("A", "B", "B", "C", "C", "H1", "C", "H2")}, wantSpine: []string{"A", "B", "C"}, wantSide: map[string]int{"H1": 1, "H2": 2},
		},
		"more holds than rows lengthen it": {
			reason: "row 0 stays free for the way back",
			graph:  Graph{Initial: "A", States: states("A", "H1", "H2"), Edges: edges("A", "H1", "A", "H2")}, wantSpine: []string{"A"}, wantSide: map[string]int{"H1": 1, "H2": 2},
		},
		"what only a refusal leads to is in the side lane": {
			reason: "it is not on the way of anything that goes well",
			graph:  Graph{Initial: "A", States: states("A", "B", "H1", "C"), Edges: edges("A", "B", "B", "H1", "H1", "C")}, wantSpine: []string{"A", "B"}, wantSide: map[string]int{"H1": 1, "C": 2},
		},
		"what a planned hold leads to is on the path": {
			reason: "an approval is part of the plan",
			graph:  Graph{Initial: "A", States: planned, Edges: edges("A", "H1", "H1", "B")}, wantSpine: []string{"A", "B"}, wantSide: map[string]int{"H1": 1},
		},
		"what nothing declared leads to is in the side lane": {
			reason: "it is reached by inference alone",
			graph:  Graph{Initial: "A", States: states("A", "B", "Inferring"), Edges: edges("A", "B")}, wantSpine: []string{"A", "B"}, wantSide: map[string]int{"Inferring": 1},
		},
		"a hint decides": {
			reason: "the author knows better than a rule",
			graph:  Graph{Initial: "A", States: hinted, Edges: edges("A", "B", "B", "H1")}, wantSpine: []string{"A", "H1"}, wantSide: map[string]int{"B": 1},
		},
		"an end that is not declared": {
			reason: "a wrong graph is drawn unchanged, for the user who corrects it",
			graph:  Graph{Initial: "A", States: states("A"), Edges: edges("A", "Ghost")}, wantSpine: []string{"A"}, wantSide: map[string]int{"Ghost": 1},
		},
		"a live state of a newer operator": {
			reason: "an older client must not fail on it",
			graph:  Graph{Initial: "A", States: states("A")}, live: &Live{State: "New"}, wantSpine: []string{"A"}, wantSide: map[string]int{"New": 1},
		},
		"a state declared twice": {
			reason: "the first one counts",
			graph:  Graph{Initial: "A", States: states("A", "B", "B"), Edges: edges("A", "B")}, wantSpine: []string{"A", "B"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spine, side := chart(arrange(tc.graph, tc.live))
			if tc.wantSide == nil {
				tc.wantSide = map[string]int{}
			}
			if diff := cmp.Diff(tc.wantSpine, spine); diff != "" {
				t.Errorf("%s: spine (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.wantSide, side); diff != "" {
				t.Errorf("%s: side lane (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestArrangeRoutes(t *testing.T) {
	g := Graph{
		Initial: "A", States: states("A", "B", "C", "D", "H1", "H2", "H3"),
		Edges: edges("A", "B", "B", "C", "C", "D", "A", "C", "D", "B", "D", "A", "C", "C", "B", "H1", "H1", "H2", "H2", "H1", "H1", "C", "H2", "A", "D", "H3", "H1", "H3"),
	}
	want := map[string]route{
		"A-B": straight, "B-C": straight, "C-D": straight,
		"A-C": mid, "B-H1": mid, "H1-C": mid, "D-H3": mid,
		"D-B": left, "D-A": left, "C-C": left,
		"H1-H2": straight, "H2-H1": right, "H2-A": right, "H1-H3": right,
	}
	got := map[string]route{}
	for _, w := range arrange(g, nil).wires {
		got[w.edges[0].Event] = w.route
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

func TestArrangeMergesEdgesBetweenTwoStates(t *testing.T) {
	g := Graph{States: states("A", "B"), Edges: append(edges("A", "B"), Edge{Event: "again", From: "A", To: "B"}, Edge{Event: "hidden", From: "A", To: "B", Class: Inferred})}
	var got []string
	for _, w := range arrange(g, nil).wires {
		for _, e := range w.edges {
			got = append(got, fmt.Sprint(len(w.edges), " ", e.Event))
		}
	}
	if diff := cmp.Diff([]string{"2 A-B", "2 again"}, got); diff != "" {
		t.Errorf("wires (-want +got):\n%s", diff)
	}
}

func TestArrangeDetoursToOneStateShareBus(t *testing.T) {
	g := Graph{Initial: "A", States: states("A", "B", "C", "D", "H1"), Edges: edges("A", "B", "B", "C", "C", "D", "B", "H1", "C", "H1", "D", "H1")}
	p := layOut(arrange(g, nil), nil)
	verticals := map[int]bool{}
	for _, ln := range p.lines {
		if p.boxes[ln.wire.to].Name == "H1" && len(ln.points) == 4 {
			verticals[ln.points[1].x] = true
		}
	}
	if len(verticals) != 1 {
		t.Errorf("want one bus to H1, got verticals at %v", verticals)
	}
}
