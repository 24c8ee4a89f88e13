package graph

import (
	"fmt"
	"slices"
	"strings"
)

const (
	bend  = 6 // radius of a line's corners
	arrow = 7 // length of an arrow's head
)

// drawBands draws fragments and their names, left of the line that enters.
func (d *drawing) drawBands() {
	for _, b := range d.bands {
		d.put(`<g><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="10" fill="%s"/>`,
			esc("fragment "+b.name), b.x, b.y, b.w, b.h, d.c.band)
		d.put(`<text x="%d" y="%d" font-size="%d" font-style="italic" fill="%s">%s</text></g>`+"\n",
			b.x+boxInset, b.y+15, smallSize, d.c.muted, esc(fit(b.name, smallSize, false, b.w/2-2*boxInset)))
	}
}

// look is the style of a line: lines that were taken and lines that may be taken next
// differ in width as well as in colour, and are drawn on top.
type look struct {
	colour string
	width  string
	level  int
}

func (d *drawing) lookOf(w *wire) look {
	walked, next := false, d.live.at(d.boxes[w.from].Name)
	for _, e := range w.edges {
		walked = walked || d.live.walked(e) > 0
	}
	switch {
	case next:
		return look{d.c.next, "2.5", 2}
	case walked:
		return look{d.c.visitedLine, "2.5", 1}
	}
	return look{d.c.line, "1.25", 0}
}

func (d *drawing) drawLines() {
	ordered := slices.Clone(d.lines)
	slices.SortStableFunc(ordered, func(a, b line) int { return d.lookOf(a.wire).level - d.lookOf(b.wire).level })
	for _, ln := range ordered {
		d.drawLine(ln)
	}
}

func (d *drawing) drawLine(ln line) {
	k := d.lookOf(ln.wire)
	dash := ""
	if d.back(ln.wire) {
		dash = ` stroke-dasharray="5 3"`
	}
	d.put(`<g><title>%s</title><path d="%s" fill="none" stroke="%s" stroke-width="%s"%s/>`,
		esc(d.describeWire(ln.wire)), path(ln.points), k.colour, k.width, dash)
	d.arrowHead(ln.points, k.colour)
	if ln.wire.oneWay() {
		d.oneWayBar(ln.bar, ln.wire.route == straight, k.colour)
	}
	if d.blocked(ln.wire) {
		d.blockSign(ln.block)
	}
	d.drawLabel(ln.label)
	d.put("</g>\n")
}

// back reports whether a wire is a way back: to an earlier state, or out of a hold.
func (d *drawing) back(w *wire) bool {
	return w.route == left || d.boxes[w.from].side && w.route != straight
}

// describeWire describes a wire in words: all its edges with their guards and meaning.
func (d *drawing) describeWire(w *wire) string {
	var words []string
	for _, e := range w.edges {
		text := fmt.Sprintf("%s: %s to %s", e.Event, e.From, e.To)
		if e.Guard != "" {
			text += ", when " + e.Guard
		}
		if e.OneWay {
			text += ", one-way"
		}
		if n := d.live.walked(e); n > 0 {
			text += ", taken " + times(n)
		}
		if wait, ok := d.live.blocks(e); ok {
			text += "; waits for " + wait.waitingLine()
		}
		if e.Doc != "" {
			text += ". " + e.Doc
		}
		words = append(words, text)
	}
	return strings.Join(words, " | ")
}

func (d *drawing) blocked(w *wire) bool {
	for _, e := range w.edges {
		if _, ok := d.live.blocks(e); ok {
			return true
		}
	}
	return false
}

func (d *drawing) drawLabel(lb label) {
	x, anchor := lb.x, ""
	if lb.end {
		x, anchor = lb.right(), ` text-anchor="end"`
	}
	for i, text := range lb.lines {
		d.put(`<text x="%d" y="%d" font-size="%d"%s fill="%s">%s</text>`,
			x, lb.y+(i+1)*lineHeight-3, smallSize, anchor, d.c.muted, esc(text))
	}
}

// path joins points by straight lines with rounded corners. It runs from the arrow's head
// back to the start, so that the dashes of lines that share a bus coincide, and begins
// inside the first box, whose corners are round.
func path(points []point) string {
	var b strings.Builder
	last := len(points) - 1
	points = slices.Clone(points)
	slices.Reverse(points)
	points[0] = towardsPoint(points[0], points[1], arrow-1)
	points[last] = beyond(points[last-1], points[last], bend)
	fmt.Fprintf(&b, "M%d %d", points[0].x, points[0].y)
	for i := 1; i < last; i++ {
		r := min(bend, distance(points[i-1], points[i])/2, distance(points[i], points[i+1])/2)
		in, out := towardsPoint(points[i], points[i-1], r), towardsPoint(points[i], points[i+1], r)
		fmt.Fprintf(&b, "L%d %dQ%d %d %d %d", in.x, in.y, points[i].x, points[i].y, out.x, out.y)
	}
	fmt.Fprintf(&b, "L%d %d", points[last].x, points[last].y)
	return b.String()
}

// towardsPoint is the point at a distance from one point towards another, along an axis.
func towardsPoint(from, to point, n int) point {
	n = min(n, distance(from, to))
	switch {
	case to.x > from.x:
		from.x += n
	case to.x < from.x:
		from.x -= n
	case to.y > from.y:
		from.y += n
	default:
		from.y -= n
	}
	return from
}

// beyond is the point at a distance behind the second point, along the line from the first.
func beyond(from, to point, n int) point {
	return towardsPoint(from, point{to.x + sign(to.x-from.x)*n, to.y + sign(to.y-from.y)*n}, distance(from, to)+n)
}

func sign(n int) int { return min(max(n, -1), 1) }

func distance(a, b point) int { return max(a.x-b.x, b.x-a.x) + max(a.y-b.y, b.y-a.y) }

func (d *drawing) arrowHead(points []point, colour string) {
	tip := points[len(points)-1]
	base := towardsPoint(tip, points[len(points)-2], arrow)
	dx, dy := 0, 4
	if tip.x == base.x {
		dx, dy = 4, 0
	}
	d.put(`<path d="M%d %dL%d %dL%d %dZ" fill="%s"/>`, tip.x, tip.y, base.x-dx, base.y-dy, base.x+dx, base.y+dy, colour)
}

// oneWayBar draws the double bar of a one-way edge.
func (d *drawing) oneWayBar(at point, vertical bool, colour string) {
	if vertical {
		d.put(`<path d="M%d %dh16M%d %dh16" stroke="%s" stroke-width="2.5"/>`, at.x-8, at.y-2, at.x-8, at.y+3, colour)
		return
	}
	d.put(`<path d="M%d %dv14M%d %dv14" stroke="%s" stroke-width="2.5"/>`, at.x-2, at.y-7, at.x+3, at.y-7, colour)
}

// blockSign draws a barred disc: a guard that is not satisfied.
func (d *drawing) blockSign(at point) {
	d.put(`<circle cx="%d" cy="%d" r="6" fill="%s"/><path d="M%d %dh7" stroke="%s" stroke-width="2"/>`,
		at.x, at.y, d.c.blocked, at.x-3, at.y, d.c.blockedGlyph)
}
