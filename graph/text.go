package graph

import (
	"fmt"
	"slices"
	"strings"
)

// TextOptions configure the text drawing. The zero value is 80 columns wide, in Unicode, with the event of
// every transition.
type TextOptions struct {
	// Width is the maximum number of columns of a line; below 40 it counts as 40. Optional; default: 80.
	Width int
	// ASCII uses only ASCII characters; others in names become '?'. Optional; default: Unicode.
	ASCII bool
	// Compact writes one line per state and omits the events along the spine. Optional; default: false.
	Compact bool
}

const (
	textWidthDefault = 80
	textWidthLeast   = 40
	nameRoom         = 26 // widest column of names
	factRoom         = 22 // widest column of facts
)

// Text draws the graph for a terminal: the spine as lines from top to bottom, loops as rails on the left,
// everything else as named jumps on the right. It contains no escape sequences, even if a name does, and ends
// with a line end. live is optional.
func Text(g Graph, live *Live, o TextOptions) string {
	if o.Width <= 0 {
		o.Width = textWidthDefault
	}
	o.Width = max(o.Width, textWidthLeast)
	t := &textDrawing{lanes: arrange(g, live), live: live, o: o}
	t.rails()
	t.measure()
	t.head(g)
	t.drawSpine()
	t.drawSide()
	t.foot(g)
	out := strings.Join(t.out, "\n") + "\n"
	if o.ASCII {
		return strings.Map(toASCII, out)
	}
	return out
}

// ascii maps every character that the drawing uses to one of the same width.
var ascii = map[rune]rune{
	'│': '|', '║': '|', '─': '-', '═': '=', '┌': '+', '└': '+', '├': '+', '┼': '+', '┤': '+', '╯': '+',
	'▷': '>', '▶': '>', '◀': '<', '✓': '*', '○': 'o', '×': 'x', '↑': '^', '→': '>', '·': '-', '…': '~', '≤': '<',
}

// textDrawing is one text while it is written.
type textDrawing struct {
	*lanes
	live   *Live
	o      TextOptions
	out    []string
	column map[*net]int // of rails, 0 is next to the names
	railed int          // number of columns of the rails
	names  int          // width of the column of names
	facts  int          // width of the column of facts
	// jumpsAt is where the column of jumps begins, unless a line needs more room.
	jumpsAt int
}

// put appends a line, without spaces at its end and cut to the width.
func (t *textDrawing) put(s string) {
	s = strings.TrimRight(s, " ")
	if cells(s) > t.o.Width {
		s = cutCells(s, t.o.Width)
	}
	t.out = append(t.out, s)
}

// say cleans text of the graph for printing. In ASCII a character that takes two cells becomes one that takes
// one, so say must be called before the text is measured.
func (t *textDrawing) say(s string) string {
	s = clean(s)
	if t.o.ASCII {
		return strings.Map(toASCII, s)
	}
	return s
}

func toASCII(r rune) rune {
	if a, ok := ascii[r]; ok {
		return a
	}
	if r > 0x7E {
		return '?'
	}
	return r
}

// cells is the number of terminal cells of a text.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n++
		if wide(r) {
			n++
		}
	}
	return n
}

func cutCells(s string, room int) string {
	if cells(s) <= room {
		return s
	}
	r := []rune(s)
	n := 0
	for i := range r {
		n += cells(string(r[i]))
		if n > room-1 {
			return strings.TrimRight(string(r[:i]), " ") + "…"
		}
	}
	return s
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-cells(s))) }

// rails assigns the loops of the spine their columns.
func (t *textDrawing) rails() {
	var nets []*net
	var spans []span
	for _, n := range t.nets {
		if n.route != left {
			continue
		}
		s := span{lo: t.boxes[n.to].row, hi: t.boxes[n.to].row, outer: n.outer}
		s.near = append(s.near, s.lo)
		for _, w := range n.wires {
			s.hi = max(s.hi, t.boxes[w.from].row)
			s.near = append(s.near, t.boxes[w.from].row)
		}
		if s.hi > s.lo {
			nets, spans = append(nets, n), append(spans, s)
		}
	}
	found, count := columns(spans, 1)
	t.column, t.railed = map[*net]int{}, count
	for i, n := range nets {
		t.column[n] = found[i]
	}
}

// measure computes the widths of the columns of names and facts.
func (t *textDrawing) measure() {
	for _, b := range t.boxes {
		t.names = min(max(t.names, cells(t.say(b.Name))), nameRoom)
		t.facts = max(t.facts, cells(t.fact(b)))
	}
	t.facts = min(t.facts, factRoom)
	longest := 0
	for i := range t.boxes {
		for _, jump := range t.jumps(i) {
			longest = max(longest, cells(jump))
		}
	}
	names := t.railed + 4 + t.names
	t.jumpsAt = min(names+t.facts+4, max(names+4, t.o.Width-longest))
}

// fact is the text right of a name: visits and time of a live object, otherwise kind and limit.
func (t *textDrawing) fact(b *box) string {
	if t.live == nil || b.implied() {
		return t.say(strings.Replace(stateText(b), " · up to ", " ≤ ", 1))
	}
	var words []string
	if n := t.live.visits(b.Name); n > 1 {
		words = append(words, fmt.Sprintf("×%d", n))
	} else {
		words = append(words, "")
	}
	if d := t.live.spent(b.Name); d > 0 {
		words = append(words, shortDuration(d))
	} else if d := t.live.usual(b.Name); d > 0 && t.live.visits(b.Name) == 0 {
		words = append(words, "("+shortDuration(d)+")")
	}
	return pad(words[0], 4) + strings.Join(words[1:], "")
}

func (t *textDrawing) mark(b *box) string {
	switch {
	case t.live.at(b.Name):
		return "▶"
	case t.live.visits(b.Name) > 0:
		return "✓"
	}
	return "○"
}

func (t *textDrawing) head(g Graph) {
	t.put(t.say(g.Name))
	t.prose("  ", g.Doc)
	if head := t.live.headline(); head != "" {
		t.prose("  ", head)
	}
	if len(t.boxes) > 0 {
		t.put("")
	}
}

func (t *textDrawing) prose(indent, text string) {
	for _, part := range wrap(t.say(text), t.o.Width-len(indent), cells) {
		t.put(indent + part)
	}
}

// foot writes the edges that are not drawn, and the meaning of the signs.
func (t *textDrawing) foot(g Graph) {
	lines := Summary(g)
	if key := t.key(); key != "" {
		lines = append(lines, key)
	}
	if len(lines) > 0 {
		t.put("")
	}
	for _, text := range lines {
		for i, part := range wrap(t.say(text), t.o.Width-4, cells) {
			t.put(strings.Repeat(" ", 2+2*min(i, 1)) + part)
		}
	}
}

func (t *textDrawing) key() string {
	if t.o.Compact {
		return ""
	}
	var words []string
	if t.railed > 0 {
		words = append(words, "↑ back along the rail")
	}
	if slices.ContainsFunc(t.wires, (*wire).oneWay) {
		words = append(words, "═ one-way, cannot be undone")
	}
	return strings.Join(words, " · ")
}

// jumps are the edges out of a state except the straight one, as text: "──event──▷ Target", doubled for a
// one-way edge.
func (t *textDrawing) jumps(i int) []string {
	var jumps []string
	up := 0
	for _, w := range t.wires {
		if w.from == i && w.route == left {
			up++
		}
	}
	for _, w := range t.wires {
		if w.from != i || w.route == straight && !t.boxes[i].side {
			continue
		}
		for _, e := range w.edges {
			jumps = append(jumps, t.jump(w, e, up))
		}
	}
	return jumps
}

func (t *textDrawing) jump(w *wire, e Edge, up int) string {
	event := t.eventText(e)
	target := t.say(t.boxes[w.to].Name)
	if w.route == left && w.from != w.to {
		if up == 1 {
			return "↑ " + event
		}
		return "↑ " + event + " → " + target
	}
	bar := "──"
	if e.OneWay {
		bar = "══"
	}
	return bar + event + bar + "▷ " + target
}

func (t *textDrawing) eventText(e Edge) string {
	text := cut(t.say(e.Event), labelLength)
	if n := t.live.walked(e); n > 1 {
		text += fmt.Sprintf(" ×%d", n)
	}
	return text
}

// waits are the guards that the current state waits for, as lines.
func (t *textDrawing) waits(b *box) []string {
	if !t.live.at(b.Name) {
		return nil
	}
	var lines []string
	for _, w := range t.live.Waiting {
		lines = append(lines, "waiting for "+t.say(w.waitingLine()))
	}
	return lines
}

// spineEvents are the edges of the straight wire as text.
func (t *textDrawing) spineEvents(w *wire) []string {
	if w == nil || t.o.Compact {
		return nil
	}
	var lines []string
	for _, e := range w.edges {
		lines = append(lines, t.eventText(e))
	}
	return lines
}
