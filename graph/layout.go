package graph

import "slices"

// Sizes of the drawing in pixels.
const (
	boxHeight    = 44 // of a box where few lines end
	boxMinWidth  = 150
	boxLiveWidth = 196 // leaves room for time and progress
	boxMaxWidth  = 270
	boxInset     = 12 // between a box's border and its content
	iconRoom     = 22 // the kind's icon, left of the name
	nameSize     = 13
	smallSize    = 11
	lineHeight   = 14 // of labels
	columnStep   = 12 // between two verticals
	markRoom     = 30 // for the one-way bar and the blocked sign on a horizontal
	labelGap     = 7  // between a box and the label of a line that leaves it
	minGap       = 32 // between two rows
	rowInset     = 4  // above and below the lines of a row
	bandHead     = 22 // room for the name of a fragment above its first box
	bandFoot     = 10
	labelLength  = 30 // longest label line, in characters
	labelLines   = 4  // maximum number of lines of a label
)

type point struct{ x, y int }

type rect struct{ x, y, w, h int }

func (r rect) right() int  { return r.x + r.w }
func (r rect) bottom() int { return r.y + r.h }

// label is the text of a wire: the events of its edges.
type label struct {
	rect
	lines []string
	end   bool // right-aligned
}

// line is a drawn wire: its points from state to state, its label, and two places for signs
// on it.
type line struct {
	wire       *wire
	points     []point
	label      label
	bar, block point
}

// band is the background of the states of a fragment.
type band struct {
	rect
	name string
}

// picture is the layout with sizes.
type picture struct {
	*lanes
	width, height int
	frames        []rect // by box
	lines         []line
	bands         []band
}

// track is the height at which a net's horizontal meets a row.
type track struct {
	net    *net
	wire   *wire // the wire that leaves the row here; nil where the net only arrives
	ends   bool  // the net's arrow is here
	group  int   // 0 comes from or goes up, 2 down, 1 across
	rank   int   // within the group, top to bottom
	height int
	y      int
}

// plan is the state of the layout while sizes are computed.
type plan struct {
	*lanes
	live           *Live
	tracks         [4]map[int][]*track // by route and row
	ends           map[*net]*track
	leaves         map[*wire]*track
	rowTop, rowLow []int
	texts          map[*wire][]string
	edge           [4]int // x where a route's columns begin, by route
	column         map[*net]int
	frames         []rect
}

// layOut places every box, line and label. By construction lines do not overlap:
// horizontals are in rows, each at its own height, verticals in columns next to the labels,
// straight lines in the gaps between rows.
func layOut(l *lanes, live *Live) *picture {
	p := &plan{lanes: l, live: live, ends: map[*net]*track{}, leaves: map[*wire]*track{},
		texts: map[*wire][]string{}, column: map[*net]int{}, frames: make([]rect, len(l.boxes))}
	for i := range p.tracks {
		p.tracks[i] = map[int][]*track{}
	}
	for _, w := range l.wires {
		p.texts[w] = wireText(w, live)
	}
	for _, n := range l.nets {
		p.addTracks(n)
	}
	p.placeRows()
	return p.placeColumns()
}

// addTracks gives a net one track per row that it leaves, and one where it ends; a wire
// straight across needs only one.
func (p *plan) addTracks(n *net) {
	target := p.boxes[n.to].row
	above, below, across := 0, 0, false
	for _, w := range n.wires {
		row := p.boxes[w.from].row
		t := &track{net: n, wire: w, height: len(p.texts[w])*lineHeight + 6}
		t.group, t.rank = towards(target - row)
		if n.route == mid && row == target {
			t.ends, across = true, true
			p.ends[n] = t
		}
		above, below = max(above, target-row), max(below, row-target)
		p.leaves[w] = t
		p.tracks[n.route][row] = append(p.tracks[n.route][row], t)
	}
	if across {
		return
	}
	t := &track{net: n, ends: true, height: 12}
	switch {
	case above > 0 && below > 0:
		t.group = 1
	case below > 0:
		t.group, t.rank = towards(below)
	default:
		t.group, t.rank = towards(-above)
	}
	zone := n.route
	if zone == right && !p.boxes[n.to].side {
		zone, t.rank = mid, -1
		t.group = 0
	}
	p.ends[n] = t
	p.tracks[zone][target] = append(p.tracks[zone][target], t)
}

// towards returns the sort key of a line's end so that lines nest: those that go up are
// above those that go down, the farthest ones in the middle.
func towards(rows int) (group, rank int) {
	switch {
	case rows < 0:
		return 0, -rows
	case rows > 0:
		return 2, -rows
	}
	return 1, 0
}

// placeRows computes the heights: of rows from their tracks, of gaps from the labels in
// them.
func (p *plan) placeRows() {
	rows := p.rows()
	y := 0
	if rows > 0 {
		y = p.bandAbove(0)
	}
	for row := range rows {
		height := boxHeight
		for _, zone := range p.tracks {
			height = max(height, stackHeight(zone[row])+2*rowInset)
		}
		p.rowTop = append(p.rowTop, y)
		p.rowLow = append(p.rowLow, y+height)
		for _, zone := range p.tracks {
			stack(zone[row], y, height)
		}
		y += height + p.gapBelow(row)
	}
	for i, b := range p.boxes {
		p.frames[i].y, p.frames[i].h = p.extent(i, b)
	}
}

func stackHeight(tracks []*track) int {
	h := 0
	for _, t := range tracks {
		h += t.height
	}
	return h
}

// stack sorts the tracks of one row and centres them in it.
func stack(tracks []*track, top, height int) {
	slices.SortStableFunc(tracks, func(a, b *track) int {
		if a.group != b.group {
			return a.group - b.group
		}
		return a.rank - b.rank
	})
	y := top + (height-stackHeight(tracks))/2
	for _, t := range tracks {
		t.y = y + t.height - 6
		y += t.height
	}
}

// gapBelow is the room under a row: the foot of a fragment, the label of the straight line,
// the head of the next fragment.
func (p *plan) gapBelow(row int) int {
	text := 0
	spine, side := p.at(row)
	for _, i := range [2]int{spine, side} {
		if i >= 0 {
			if w := p.below(i); w != nil {
				text = max(text, len(p.texts[w])*lineHeight+18)
			}
		}
	}
	return p.bandBelow(row) + max(minGap, text) + p.bandAbove(row+1)
}

func (p *plan) group(row int) string {
	if spine, _ := p.at(row); row >= 0 && spine >= 0 {
		return p.boxes[spine].Group
	}
	return ""
}

func (p *plan) bandAbove(row int) int {
	if g := p.group(row); g != "" && (row == 0 || p.group(row-1) != g) {
		return bandHead
	}
	return 0
}

func (p *plan) bandBelow(row int) int {
	if g := p.group(row); g != "" && p.group(row+1) != g {
		return bandFoot
	}
	return 0
}

// extent is a box's top and height: around the middle of the row, and around all lines that
// end on it.
func (p *plan) extent(i int, b *box) (y, h int) {
	middle := (p.rowTop[b.row] + p.rowLow[b.row]) / 2
	top, low := middle-boxHeight/2, middle+boxHeight/2
	for _, zone := range p.tracks {
		for _, t := range zone[b.row] {
			if t.wire != nil && t.wire.from == i || t.ends && t.net.to == i {
				top, low = min(top, t.y-9), max(low, t.y+9)
			}
		}
	}
	return top, low - top
}
