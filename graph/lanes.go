package graph

import "slices"

// route is how a wire runs between its two states.
type route int

const (
	straight route = iota // to the next state below, in the same lane
	left                  // back along the spine: a rail on its left
	mid                   // between the lanes: jumps forward, detours and ways back
	right                 // right of the side lane: between side states, and back to the start
)

// box is a state with its place: a lane and a row.
type box struct {
	State
	note string // why it is drawn although the graph does not declare it; otherwise empty
	side bool
	row  int
}

const (
	notDeclared = "not declared"
	notKnown    = "unknown to this client"
)

// implied reports whether the graph does not declare the state. Such a state is drawn
// without a kind, which is not known.
func (b *box) implied() bool { return b.note != "" }

// wire is all edges from one state to another: one drawn line.
type wire struct {
	from, to int
	edges    []Edge
	route    route
}

// net is all wires of one route that end in the same state: they share one bus.
type net struct {
	to    int
	route route
	wires []*wire
	outer bool // outside of all others: the way back to the start
}

// lanes is the layout without sizes, shared by all renderers that draw lanes.
type lanes struct {
	boxes   []*box
	index   map[string]int
	initial int // -1 without states
	spine   []int
	side    []int // row to box; -1 is a free row; empty without side states
	wires   []*wire
	nets    []*net
}

// arrange sorts states into lanes and edges into wires. It never fails: states that only an
// edge or live names are drawn in the side lane.
func arrange(g Graph, live *Live) *lanes {
	l := &lanes{index: map[string]int{}, initial: -1}
	for _, s := range g.States {
		l.add(s, "")
	}
	declared := len(l.boxes)
	for _, e := range g.Edges {
		if e.drawn() {
			l.add(State{Name: e.From}, notDeclared)
			l.add(State{Name: e.To}, notDeclared)
		}
	}
	if live != nil && live.State != "" {
		l.add(State{Name: live.State}, notKnown)
	}
	if i, ok := l.index[g.Initial]; ok && i < declared {
		l.initial = i
	} else if len(l.boxes) > 0 {
		l.initial = 0
	}
	l.connect(g.Edges)
	l.pickLanes()
	l.placeSide()
	l.routeWires()
	return l
}

func (l *lanes) add(s State, note string) {
	if _, ok := l.index[s.Name]; ok {
		return
	}
	l.index[s.Name] = len(l.boxes)
	l.boxes = append(l.boxes, &box{State: s, note: note})
}

// connect merges declared edges between the same two states into one wire.
func (l *lanes) connect(edges []Edge) {
	found := map[[2]int]*wire{}
	for _, e := range edges {
		if !e.drawn() {
			continue
		}
		key := [2]int{l.index[e.From], l.index[e.To]}
		w, ok := found[key]
		if !ok {
			w = &wire{from: key[0], to: key[1]}
			found[key] = w
			l.wires = append(l.wires, w)
		}
		w.edges = append(w.edges, e)
	}
}

// pickLanes puts states on the spine that can be reached from the start without a refusal
// and are no Hold, in declaration order after the start. State.Lane overrides this.
func (l *lanes) pickLanes() {
	if l.initial < 0 {
		return
	}
	reached := make([]bool, len(l.boxes))
	queue := []int{l.initial}
	reached[l.initial] = true
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if l.boxes[at].refused() {
			continue
		}
		for _, w := range l.wires {
			if w.from == at && !reached[w.to] {
				reached[w.to] = true
				queue = append(queue, w.to)
			}
		}
	}
	l.spine = []int{l.initial}
	for i, b := range l.boxes {
		switch {
		case i == l.initial:
			continue
		case b.Lane == Main:
			b.side = false
		case b.Lane == Side || b.implied() || b.Kind == Hold || !reached[i]:
			b.side = true
		}
		if !b.side {
			b.row = len(l.spine)
			l.spine = append(l.spine, i)
		}
	}
}

// placeSide gives each side state its own row, as near as possible to the spine states that
// lead to it. Row 0 stays free for the way back to the start.
func (l *lanes) placeSide() {
	type wish struct{ box, row int }
	var linked []wish
	var loose []int
	want := l.wantedRows()
	for i, b := range l.boxes {
		switch {
		case !b.side:
		case want[i] > 0:
			linked = append(linked, wish{i, want[i]})
		default:
			loose = append(loose, i)
		}
	}
	slices.SortStableFunc(linked, func(a, b wish) int { return a.row - b.row })
	if len(linked)+len(loose) == 0 {
		return
	}
	last := max(len(l.spine)-1, len(linked)+len(loose))
	l.side = slices.Repeat([]int{-1}, last+1)
	row := 0
	for i := range linked {
		row = max(row+1, linked[i].row)
		linked[i].row = row
	}
	for i := range linked {
		limit := last - (len(linked) - 1 - i)
		l.place(linked[i].box, min(linked[i].row, limit))
	}
	free := 1
	for _, i := range loose {
		for l.side[free] >= 0 {
			free++
		}
		l.place(i, free)
	}
}

func (l *lanes) place(i, row int) {
	l.boxes[i].row = row
	l.side[row] = i
}

// wantedRows is, per side state, the middle row of the spine states that lead to it;
// otherwise of those it leads to; otherwise the row below a linked side state.
func (l *lanes) wantedRows() []int {
	want := make([]int, len(l.boxes))
	for i, b := range l.boxes {
		if !b.side {
			continue
		}
		var from, to []int
		for _, w := range l.wires {
			if w.to == i && !l.boxes[w.from].side {
				from = append(from, l.boxes[w.from].row)
			}
			if w.from == i && !l.boxes[w.to].side && w.to != l.initial {
				to = append(to, l.boxes[w.to].row)
			}
		}
		if len(from) == 0 {
			from = to
		}
		if len(from) > 0 {
			slices.Sort(from)
			want[i] = max(1, from[(len(from)-1)/2])
		}
	}
	for changed := true; changed; {
		changed = false
		for _, w := range l.wires {
			for _, pair := range [2][2]int{{w.from, w.to}, {w.to, w.from}} {
				near, other := pair[0], pair[1]
				if l.boxes[other].side && want[other] == 0 && want[near] > 0 {
					want[other] = want[near] + 1
					changed = true
				}
			}
		}
	}
	return want
}

// routeWires chooses the route of each wire and collects wires with the same end in nets.
func (l *lanes) routeWires() {
	type key struct {
		to    int
		route route
	}
	found := map[key]*net{}
	for _, w := range l.wires {
		w.route = l.routeOf(w)
		if w.route == straight {
			continue
		}
		k := key{w.to, w.route}
		n, ok := found[k]
		if !ok {
			n = &net{to: w.to, route: w.route, outer: w.to == l.initial}
			found[k] = n
			l.nets = append(l.nets, n)
		}
		n.wires = append(n.wires, w)
	}
}

func (l *lanes) routeOf(w *wire) route {
	from, to := l.boxes[w.from], l.boxes[w.to]
	switch {
	case !from.side && !to.side && to.row == from.row+1:
		return straight
	case !from.side && !to.side && to.row <= from.row:
		return left
	case from.side && to.side && l.belowOnSide(w.from) == w.to:
		return straight
	case from.side && (to.side || w.to == l.initial):
		return right
	}
	return mid
}

// belowOnSide is the next state below in the side lane, or -1.
func (l *lanes) belowOnSide(i int) int {
	for _, next := range l.side[l.boxes[i].row+1:] {
		if next >= 0 {
			return next
		}
	}
	return -1
}

// below is the wire that leads straight down from a state, or nil.
func (l *lanes) below(i int) *wire {
	for _, w := range l.wires {
		if w.from == i && w.route == straight {
			return w
		}
	}
	return nil
}

// rows is the number of rows of both lanes.
func (l *lanes) rows() int { return max(len(l.spine), len(l.side)) }

// at returns the spine's and the side lane's state in a row; -1 is none.
func (l *lanes) at(row int) (spine, side int) {
	spine, side = -1, -1
	if row < len(l.spine) {
		spine = l.spine[row]
	}
	if row < len(l.side) {
		side = l.side[row]
	}
	return spine, side
}
