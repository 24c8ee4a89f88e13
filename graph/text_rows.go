package graph

import "strings"

// gutter is the position of a line within a row: the state's line, the first line under it,
// or any other.
type gutter int

const (
	atState gutter = iota
	underState
	furtherDown
)

const gutters = 3 // lines per row, as far as rails are concerned

// railLine draws the rails of one line, the outermost first, then a stub to the spine where
// a rail meets it. Rails end and start on a state's line; if one loop ends and another
// starts at a state, the second starts one line lower, so that they are separate. joined is
// true for such a late start.
func (t *textDrawing) railLine(row int, g gutter) (text string, joined bool) {
	cell := []rune(strings.Repeat(" ", t.railed))
	here, stub, ends := row*gutters+int(g), t.railed, false
	for _, n := range t.nets {
		column, ok := t.column[n]
		if !ok {
			continue
		}
		at := t.railed - 1 - column
		top, bottom := t.boxes[n.to].row*gutters, t.startLine(t.lastRow(n))
		switch {
		case here == top:
			cell[at], ends, stub = '┌', true, min(stub, at)
		case t.leavesAt(n, row) && here == t.startLine(row):
			cell[at], stub = '├', min(stub, at)
			if here == bottom {
				cell[at] = '└'
			}
		case top < here && here < bottom:
			cell[at] = '│'
		}
	}
	if stub == t.railed {
		return string(cell) + "  ", false
	}
	across(cell[stub+1:])
	switch {
	case ends:
		return string(cell) + "▷ ", false
	case g == atState:
		return string(cell) + "─ ", false
	}
	return string(cell) + "──", true
}

// across draws a stub over the rails between it and the spine.
func across(cell []rune) {
	for at := range cell {
		switch cell[at] {
		case ' ':
			cell[at] = '─'
		case '│':
			cell[at] = '┼'
		}
	}
}

// startLine is the line on which the rails that start in a row begin.
func (t *textDrawing) startLine(row int) int {
	if t.late(row) {
		return row*gutters + int(underState)
	}
	return row * gutters
}

// late reports whether one rail ends and another starts in a row.
func (t *textDrawing) late(row int) bool {
	ends, starts := false, false
	for n := range t.column {
		ends = ends || t.boxes[n.to].row == row
		starts = starts || t.leavesAt(n, row)
	}
	return ends && starts
}

func (t *textDrawing) leavesAt(n *net, row int) bool {
	for _, w := range n.wires {
		if w.from != w.to && t.boxes[w.from].row == row {
			return true
		}
	}
	return false
}

func (t *textDrawing) lastRow(n *net) int {
	last := 0
	for _, w := range n.wires {
		last = max(last, t.boxes[w.from].row)
	}
	return last
}

// drawSpine writes each state with its jumps, and under it the event that leads to the next
// state.
func (t *textDrawing) drawSpine() {
	for row, i := range t.spine {
		b, w := t.boxes[i], t.below(i)
		rails, _ := t.railLine(row, atState)
		jumps := t.stateLine(rails, b, t.jumps(i))
		u := &underLines{t: t, row: row, w: w, late: t.late(row)}
		for _, text := range t.waits(b) {
			for _, part := range wrap(text, t.o.Width-t.railed-8, cells) {
				t.put(u.next() + "  " + part)
			}
		}
		events := t.spineEvents(w)
		for len(events) > 0 || len(jumps) > 0 || u.late {
			line := u.next()
			if len(events) > 0 {
				line += events[0]
				events = events[1:]
			}
			if len(jumps) > 0 {
				if whole := t.withJump(line, jumps[0]); cells(whole) <= t.o.Width || len(events) == 0 && u.empty(line) {
					line, jumps = whole, jumps[1:]
				}
			}
			t.put(line)
		}
		t.between(row, w)
	}
}

// underLines returns the beginnings of the lines under a state.
type underLines struct {
	t    *textDrawing
	row  int
	w    *wire
	late bool // a rail has not started yet
}

func (u *underLines) next() string {
	g := furtherDown
	if u.late {
		g, u.late = underState, false
	}
	rails, joined := u.t.railLine(u.row, g)
	return rails + u.t.thread(u.w, joined) + " "
}

// empty reports whether a line has no event. A jump that fits on no line is cut on such a
// line.
func (u *underLines) empty(line string) bool { return strings.HasSuffix(line, " ") }

// thread is the spine between two states, joined by a rail or not.
func (t *textDrawing) thread(w *wire, joined bool) string {
	switch {
	case joined && (w == nil || t.o.Compact):
		return "╯"
	case joined:
		return "┤"
	case w == nil || t.o.Compact:
		return " "
	case w.oneWay():
		return "║"
	}
	return "│"
}

// between writes the double line of a one-way edge, or a gap where the spine is not
// continuous.
func (t *textDrawing) between(row int, w *wire) {
	rails, _ := t.railLine(row, furtherDown)
	switch {
	case row+1 >= len(t.spine):
	case w != nil && w.oneWay():
		t.put(rails + "════════ one-way ════════")
	case w == nil && !t.o.Compact:
		t.put(rails)
	}
}

// stateLine writes a state's line and returns the jumps that did not fit on it.
func (t *textDrawing) stateLine(gutter string, b *box, jumps []string) []string {
	line := gutter + t.mark(b) + " " + pad(cutCells(t.say(b.Name), t.names), t.names) + "  " + pad(cutCells(t.fact(b), t.facts), t.facts)
	if t.live.at(b.Name) {
		line = strings.TrimRight(line, " ") + "  ◀ now"
	}
	if len(jumps) > 0 {
		if whole := t.withJump(line, jumps[0]); cells(whole) <= t.o.Width {
			t.put(whole)
			return jumps[1:]
		}
	}
	t.put(line)
	return jumps
}

// withJump appends a jump in the column of jumps, or further left if it does not fit there.
func (t *textDrawing) withJump(line, jump string) string {
	line = strings.TrimRight(line, " ")
	column := min(t.jumpsAt, t.o.Width-cells(jump))
	return pad(line, max(column, cells(line)+2)) + jump
}

// drawSide lists the states of the side lane, each with its jumps.
func (t *textDrawing) drawSide() {
	indent := strings.Repeat(" ", t.railed+2)
	begun := false
	for _, i := range t.side {
		if i < 0 {
			continue
		}
		if !begun {
			t.put("")
			t.put(indent + "off the main path")
			begun = true
		}
		b := t.boxes[i]
		for _, jump := range t.stateLine(indent, b, t.jumps(i)) {
			t.put(t.withJump(indent, jump))
		}
		for _, text := range t.waits(b) {
			t.prose(indent+"    ", text)
		}
	}
}
