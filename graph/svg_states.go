package graph

import "strings"

// drawStates draws the boxes in reading order: down the spine, then the side lane.
func (d *drawing) drawStates() {
	for _, i := range d.spine {
		d.drawState(i)
	}
	for _, i := range d.side {
		if i >= 0 {
			d.drawState(i)
		}
	}
}

func (d *drawing) drawState(i int) {
	b, f := d.boxes[i], d.frames[i]
	current, visited := d.live.at(b.Name), d.live.visits(b.Name) > 0
	fill, border, text, small, width := d.c.box, d.c.border, d.c.text, d.c.muted, "1.25"
	switch {
	case current && b.implied():
		border, width = d.c.next, "2"
	case current:
		fill, border, text, small, width = d.c.current, d.c.current, d.c.currentText, d.c.currentText, "3"
	case visited:
		fill, border, width = d.c.visited, d.c.visitedLine, "1.75"
	case b.Kind == Hold:
		fill, border, width = d.c.hold, d.c.holdLine, "1.75"
	}
	step := ""
	if current {
		step = ` aria-current="step"`
	}
	d.put(`<g role="graphics-symbol" tabindex="0" data-state="%s"%s><title>%s</title>`, esc(b.Name), step, esc(d.describeState(b)))
	d.put(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s" stroke="%s" stroke-width="%s"%s/>`,
		f.x, f.y, f.w, f.h, corner(b), fill, border, width, boxDash(b))
	middle := f.y + f.h/2
	glyph := border
	if current && !b.implied() {
		glyph = d.c.currentText
	}
	x := f.x + boxInset
	d.sign(b, point{x + 6, middle}, glyph, current, visited)
	x += iconRoom
	room := f.right() - boxInset/2 - x
	d.put(`<text x="%d" y="%d" font-size="%d" font-weight="600" fill="%s">%s</text>`,
		x, middle-3, nameSize, text, esc(fit(clean(b.Name), nameSize, true, room)))
	d.put(`<text x="%d" y="%d" font-size="%d" fill="%s">%s</text></g>`+"\n",
		x, middle+13, smallSize, small, esc(fit(d.live.stateLine(b), smallSize, false, room)))
}

// corner is the corner radius by kind, so that kinds also differ in shape: round at rest,
// square on hold.
func corner(b *box) int {
	switch b.Kind {
	case Rest:
		return 18
	case Hold:
		return 2
	default:
		return 8
	}
}

func boxDash(b *box) string {
	if b.implied() {
		return ` stroke-dasharray="4 3"`
	}
	return ""
}

// sign draws the sign left of a name: a pointer for the current state, a tick for a visited
// one, otherwise the kind.
func (d *drawing) sign(b *box, at point, colour string, current, visited bool) {
	switch {
	case current:
		d.put(`<path d="M%d %dl11 6.5l-11 6.5Z" fill="%s"/>`, at.x-5, at.y-6, colour)
	case visited:
		d.put(`<path d="M%d %dl4 4.5l7 -9" fill="none" stroke="%s" stroke-width="2.25"/>`, at.x-5, at.y, colour)
	default:
		d.kindSign(b, at, colour)
	}
}

// kindSign draws the kind: a disc for Rest, a cog for Work, a sand-glass for Wait, two bars
// for Hold and a question mark for an unknown kind.
func (d *drawing) kindSign(b *box, at point, colour string) {
	switch b.Kind {
	case Rest:
		d.put(`<circle cx="%d" cy="%d" r="4.5" fill="%s"/>`, at.x, at.y, colour)
	case Work:
		d.put(`<g fill="none" stroke="%s"><circle cx="%d" cy="%d" r="3" stroke-width="2"/><circle cx="%d" cy="%d" r="5" stroke-width="2.5" stroke-dasharray="2 1.93"/></g>`,
			colour, at.x, at.y, at.x, at.y)
	case Wait:
		d.put(`<path d="M%d %dh10l-10 12h10Z" fill="none" stroke="%s" stroke-width="1.75" stroke-linejoin="round"/>`,
			at.x-5, at.y-6, colour)
	case Hold:
		d.put(`<path d="M%d %dv12M%d %dv12" stroke="%s" stroke-width="3"/>`, at.x-3, at.y-6, at.x+3, at.y-6, colour)
	}
	if b.implied() {
		d.put(`<text x="%d" y="%d" font-size="%d" font-weight="600" text-anchor="middle" fill="%s">?</text>`,
			at.x, at.y+5, nameSize, colour)
	}
}

// describeState describes a state in words, for tooltips and screen readers.
func (d *drawing) describeState(b *box) string {
	words := []string{b.Name, stateText(b)}
	switch n := d.live.visits(b.Name); {
	case d.live.at(b.Name):
		words = append(words, "current")
	case n > 0:
		words = append(words, "visited "+times(n))
	}
	if spent := d.live.spent(b.Name); spent > 0 {
		words = append(words, shortDuration(spent))
	}
	text := strings.Join(words, ", ") + "."
	if b.Doc != "" {
		text += " " + sentence(b.Doc)
	}
	if b.OnTargetChange != "" {
		text += " A changed target leads to " + b.OnTargetChange + "."
	}
	return text
}

// key is one sign with its meaning.
type key struct {
	text string
	draw func(at point)
}

// keys are the signs that occur in this drawing.
func (d *drawing) keys() []key {
	var keys []key
	kinds, implied, visited := map[Kind]bool{}, false, false
	for _, b := range d.boxes {
		kinds[b.Kind] = true
		implied = implied || b.implied() && d.live.visits(b.Name) == 0
		visited = visited || d.live.visits(b.Name) > 0 && !d.live.at(b.Name)
	}
	if d.live != nil && d.live.State != "" {
		keys = append(keys, key{"now", func(at point) { d.sign(&box{}, at, d.c.next, true, false) }})
	}
	if visited {
		keys = append(keys, key{"visited", func(at point) { d.sign(&box{}, at, d.c.visitedLine, false, true) }})
	}
	for _, k := range []struct {
		kind Kind
		text string
	}{{Rest, "rest"}, {Work, "work"}, {Wait, "wait"}, {Hold, "hold: needs a user"}} {
		if kinds[k.kind] {
			keys = append(keys, key{k.text, func(at point) { d.kindSign(&box{State: State{Kind: k.kind}}, at, d.c.line) }})
		}
	}
	if implied {
		keys = append(keys, key{"not in this graph", func(at point) { d.kindSign(&box{note: notKnown}, at, d.c.line) }})
	}
	return append(keys, d.lineKeys()...)
}

func (d *drawing) lineKeys() []key {
	var keys []key
	oneWay, back := false, false
	for _, w := range d.wires {
		oneWay = oneWay || w.oneWay()
		back = back || d.back(w)
	}
	if back {
		keys = append(keys, key{"way back", func(at point) {
			d.put(`<path d="M%d %dh14" stroke="%s" stroke-width="1.25" stroke-dasharray="5 3"/>`, at.x-7, at.y, d.c.line)
		}})
	}
	if oneWay {
		keys = append(keys, key{"one-way, cannot be undone", func(at point) { d.oneWayBar(at, false, d.c.line) }})
	}
	if d.live != nil && len(d.live.Waiting) > 0 {
		keys = append(keys, key{"guard not met", d.blockSign})
	}
	return keys
}

const (
	keySign = 22
	keyGap  = 20
)

// keyRows is the number of rows of the keys.
func keyRows(keys []key, room int) int {
	rows := 0
	flowKeys(keys, room, func(_ key, _, row int) { rows = row + 1 })
	return rows
}

// flowKeys places keys in rows of at most room pixels.
func flowKeys(keys []key, room int, place func(k key, x, row int)) {
	x, row := 0, 0
	for _, k := range keys {
		w := keySign + textWidth(k.text, smallSize, false)
		if x > 0 && x+w > room {
			x, row = 0, row+1
		}
		place(k, x, row)
		x += w + keyGap
	}
}

func (d *drawing) drawKeys(keys []key, y, room int) {
	flowKeys(keys, room, func(k key, x, row int) {
		at := point{margin + x + 7, y + row*proseLine - 4}
		d.put("<g>")
		k.draw(at)
		d.put(`<text x="%d" y="%d" font-size="%d" fill="%s">%s</text></g>`+"\n",
			margin+x+keySign, at.y+4, smallSize, d.c.muted, esc(k.text))
	})
}
