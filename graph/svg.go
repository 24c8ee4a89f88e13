package graph

import (
	"fmt"
	"strings"
)

// Sizes around the drawing in pixels.
const (
	margin     = 24
	minWidth   = 620
	titleSize  = 16
	proseSize  = 12
	proseLine  = 18
	blockTitle = 24
)

// SVG draws the graph as a self-contained picture: literal colours, no script, no style
// sheet, no font and no link. States can be focused with the keyboard and have their name
// and meaning as title; the current one has aria-current="step". No information is in
// colour alone: the current state has a pointer, visited ones a tick, ways back are dashed,
// a one-way edge has a double bar and a text. live is optional.
//
// Text is at least 11 pixels high at the picture's original size.
func SVG(g Graph, live *Live, theme Theme) string {
	d := &drawing{picture: layOut(arrange(g, live), live), live: live, c: colours(theme), g: g}
	return d.svg()
}

// drawing is one SVG while it is written.
type drawing struct {
	*picture
	strings.Builder
	live *Live
	c    palette
	g    Graph
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// esc escapes text for XML text and attribute values.
func esc(s string) string { return escaper.Replace(clean(s)) }

func (d *drawing) put(format string, args ...any) { fmt.Fprintf(&d.Builder, format, args...) }

func (d *drawing) svg() string {
	width := max(d.width+2*margin, minWidth)
	head := d.headLines(width - 2*margin)
	foot := d.footLines(width - 2*margin)
	top := margin + blockTitle + len(head)*proseLine + 14
	if d.height == 0 {
		top -= 14
	}
	keyTop := top + d.height + 26 + len(foot)*proseLine
	keys := d.keys()
	height := keyTop + keyRows(keys, width-2*margin)*proseLine + margin/2

	d.put(`<svg xmlns="http://www.w3.org/2000/svg" role="graphics-document" aria-roledescription="state machine" width="%d" height="%d" viewBox="0 0 %d %d" font-family="%s">`+"\n",
		width, height, width, height, "system-ui, -apple-system, &#39;Segoe UI&#39;, Roboto, &#39;Helvetica Neue&#39;, Arial, sans-serif")
	d.put("<title>%s</title>\n<desc>%s</desc>\n", esc(d.title()), esc(d.describe()))
	d.put(`<rect width="%d" height="%d" fill="%s"/>`+"\n", width, height, d.c.page)
	d.put(`<text x="%d" y="%d" font-size="%d" font-weight="600" fill="%s">%s</text>`+"\n",
		margin, margin+titleSize, titleSize, d.c.text, esc(fit(clean(d.g.Name), titleSize, true, width-2*margin)))
	d.prose(head, margin+blockTitle+proseSize)
	d.put(`<g transform="translate(%d.5 %d.5)">`+"\n", (width-d.width)/2, top)
	d.drawBands()
	d.drawLines()
	d.drawStates()
	d.put("</g>\n")
	d.prose(foot, top+d.height+20+proseSize)
	d.drawKeys(keys, keyTop+proseSize, width-2*margin)
	d.put("</svg>\n")
	return d.String()
}

func (d *drawing) title() string {
	if head := d.live.headline(); head != "" {
		return d.g.Name + ": " + head
	}
	return d.g.Name
}

// describe is the drawing in words, for screen readers.
func (d *drawing) describe() string {
	var path []string
	for _, i := range d.spine {
		path = append(path, clean(d.boxes[i].Name))
	}
	drawn := 0
	for _, w := range d.wires {
		drawn += len(w.edges)
	}
	text := fmt.Sprintf("%d states, %d transitions.", len(d.boxes), drawn)
	if len(path) > 0 {
		text += " Main path: " + strings.Join(path, ", ") + "."
	}
	if d.g.Doc != "" {
		text = sentence(clean(d.g.Doc)) + " " + text
	}
	return text
}

// prose is a line of running text, with a sign before it if it reports a guard.
type prose struct {
	text    string
	blocked bool
	strong  bool
}

func (d *drawing) wrapped(text string, room int) []string {
	return wrap(clean(text), room, func(s string) int { return textWidth(s, proseSize, false) })
}

// headLines are the machine's meaning, the current state of the object, and what it waits
// for.
func (d *drawing) headLines(room int) []prose {
	var lines []prose
	for _, text := range d.wrapped(d.g.Doc, room) {
		lines = append(lines, prose{text: text})
	}
	for _, text := range d.wrapped(d.live.headline(), room) {
		lines = append(lines, prose{text: text, strong: true})
	}
	if d.live == nil {
		return lines
	}
	for _, w := range d.live.Waiting {
		for i, text := range d.wrapped("waiting for "+w.waitingLine(), room-18) {
			lines = append(lines, prose{text: text, blocked: i == 0})
		}
	}
	return lines
}

// footLines are the edges that are not drawn.
func (d *drawing) footLines(room int) []prose {
	var lines []prose
	for _, text := range Summary(d.g) {
		for _, part := range d.wrapped(text, room) {
			lines = append(lines, prose{text: part})
		}
	}
	return lines
}

func (d *drawing) prose(lines []prose, y int) {
	indent := 0
	for _, ln := range lines {
		fill, weight := d.c.muted, ""
		if ln.strong {
			fill, weight = d.c.text, ` font-weight="600"`
		}
		if ln.blocked {
			d.blockSign(point{margin + 6, y - 4})
			indent = 18
		}
		d.put(`<text x="%d" y="%d" font-size="%d"%s fill="%s">%s</text>`+"\n", margin+indent, y, proseSize, weight, fill, esc(ln.text))
		y += proseLine
	}
}
