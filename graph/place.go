package graph

// placeColumns computes the widths, with all heights known, and the points of the lines.
func (p *plan) placeColumns() *picture {
	counts := [4]int{}
	for _, r := range []route{left, mid, right} {
		counts[r] = p.assign(r)
	}
	spine, side, width := p.placeLanes(counts)
	for i, b := range p.boxes {
		at := spine
		if b.side {
			at = side
		}
		p.frames[i].x, p.frames[i].w = at.x, at.w
	}
	pic := &picture{lanes: p.lanes, frames: p.frames, width: width + 1}
	if rows := p.rows(); rows > 0 {
		pic.height = p.rowLow[rows-1] + p.bandBelow(rows-1) + 1
	}
	for _, w := range p.wires {
		pic.lines = append(pic.lines, p.draw(w))
	}
	pic.bands = p.bands(spine)
	return pic
}

// placeLanes places, from left to right: rails, their labels, the spine, labels, buses,
// labels, the side lane, labels, the ways back on the far side.
func (p *plan) placeLanes(counts [4]int) (spine, side rect, width int) {
	x := 1
	if counts[left] == 0 {
		x += boxInset
	} else {
		p.edge[left] = x + (counts[left]-1)*columnStep
		x = p.edge[left] + p.labelRoom(left, false) + markRoom
	}
	spine = rect{x: x, w: p.boxWidth(false)}
	width = max(spine.right()+boxInset, spine.x+spine.w/2+p.gapLabels(false))
	p.edge[mid] = max(width, spine.right()+p.labelRoom(mid, false)+markRoom)
	if counts[mid] > 0 {
		width = p.edge[mid] + counts[mid]*columnStep
	}
	side = rect{x: p.edge[mid] + counts[mid]*columnStep + p.labelRoom(mid, true) + markRoom, w: p.boxWidth(true)}
	if len(p.side) > 0 {
		width = max(side.right(), side.x+side.w/2+p.gapLabels(true))
	}
	if counts[right] > 0 {
		p.edge[right] = max(width, side.right()+p.labelRoom(right, true)+markRoom)
		width = p.edge[right] + counts[right]*columnStep
	}
	return spine, side, width
}

// assign gives the nets of a route their columns and returns the number of columns.
func (p *plan) assign(r route) int {
	var nets []*net
	var spans []span
	for _, n := range p.nets {
		if n.route != r {
			continue
		}
		end := p.ends[n]
		s := span{lo: end.y, hi: end.y, outer: n.outer && r != mid}
		p.meet(&s, end.y, p.boxes[n.to].side && r == mid)
		for _, w := range n.wires {
			t := p.leaves[w]
			s.lo, s.hi = min(s.lo, t.y), max(s.hi, t.y)
			p.meet(&s, t.y, p.boxes[w.from].side && r == mid)
		}
		if s.lo < s.hi {
			nets, spans = append(nets, n), append(spans, s)
		}
	}
	found, count := columns(spans, 8)
	for i, n := range nets {
		p.column[n] = found[i]
	}
	return count
}

func (p *plan) meet(s *span, y int, far bool) {
	if far {
		s.far = append(s.far, y)
	} else {
		s.near = append(s.near, y)
	}
}

// boxWidth is the common width of all boxes of a lane.
func (p *plan) boxWidth(side bool) int {
	w, least := 0, boxMinWidth
	if p.live != nil {
		least = boxLiveWidth
	}
	for _, b := range p.boxes {
		if b.side == side {
			w = max(w, least, iconRoom+2*boxInset+textWidth(cut(clean(b.Name), longestWord), nameSize, true),
				iconRoom+2*boxInset+textWidth(cut(stateText(b), longestWord), smallSize, false))
		}
	}
	return min(w, boxMaxWidth)
}

// labelRoom is the width of the labels of a route next to the boxes of a lane.
func (p *plan) labelRoom(r route, side bool) int {
	room := 0
	for _, w := range p.wires {
		if w.route == r && p.boxes[w.from].side == side {
			room = max(room, p.textRoom(w)+labelGap)
		}
	}
	return room
}

// gapLabels is how far the labels of straight lines extend to the right of the line.
func (p *plan) gapLabels(side bool) int {
	room := 0
	for _, w := range p.wires {
		if w.route == straight && p.boxes[w.from].side == side {
			room = max(room, 2*labelGap+p.textRoom(w)+columnStep)
		}
	}
	return room
}

// textRoom is the width of a wire's label. With a live overlay it leaves room for a count,
// so that the layout does not change as the object progresses.
func (p *plan) textRoom(w *wire) int {
	room := 0
	for _, e := range w.edges {
		text := edgeText(e)
		if p.live != nil {
			text += " ×00"
		}
		room = max(room, textWidth(text, smallSize, false))
	}
	for _, text := range p.texts[w] {
		room = max(room, textWidth(text, smallSize, false))
	}
	return room
}

// draw computes the points of a wire from box to box and places its label at its start.
func (p *plan) draw(w *wire) line {
	if w.route == straight {
		return p.drawStraight(w)
	}
	from, to := p.frames[w.from], p.frames[w.to]
	n := p.netOf(w)
	leave, end := p.leaves[w], p.ends[n]
	ln := line{wire: w}
	x0, outward := from.right(), 1
	if w.route == left || w.route == mid && p.boxes[w.from].side {
		x0, outward = from.x, -1
	}
	x1 := to.right()
	if w.route == left || w.route == mid && p.boxes[w.to].side {
		x1 = to.x
	}
	x := p.edge[w.route] + p.column[n]*columnStep
	if w.route == left {
		x = p.edge[left] - p.column[n]*columnStep
	}
	ln.points = []point{{x0, leave.y}, {x, leave.y}, {x, end.y}, {x1, end.y}}
	if leave == end {
		ln.points = []point{{x0, leave.y}, {x1, end.y}}
	}
	ln.label = p.labelOf(w, x0+outward*labelGap, leave.y-3, outward < 0)
	room := p.labelRoom(w.route, p.boxes[w.from].side)
	ln.bar = point{x0 + outward*(room+8), leave.y}
	ln.block = point{x0 + outward*(room+20), leave.y}
	return ln
}

func (p *plan) netOf(w *wire) *net { return p.leaves[w].net }

func (p *plan) drawStraight(w *wire) line {
	from, to := p.frames[w.from], p.frames[w.to]
	x := from.x + from.w/2
	ln := line{wire: w, points: []point{{x, from.bottom()}, {x, to.y}}}
	row := p.boxes[w.from].row
	top := p.rowLow[row] + p.bandBelow(row)
	gap := p.rowTop[row+1] - p.bandAbove(row+1) - top
	ln.label = p.labelOf(w, x+2*labelGap, top+(gap+len(p.texts[w])*lineHeight)/2, false)
	ln.block = point{x, top + 8}
	ln.bar = point{x, top + gap/2 + 2}
	return ln
}

// labelOf is the label of a wire with the start (or end) of its first line at x and its
// foot at y.
func (p *plan) labelOf(w *wire, x, y int, end bool) label {
	lb := label{lines: p.texts[w], end: end}
	for _, text := range lb.lines {
		lb.w = max(lb.w, textWidth(text, smallSize, false))
	}
	lb.h = len(lb.lines) * lineHeight
	lb.x, lb.y = x, y-lb.h
	if end {
		lb.x -= lb.w
	}
	return lb
}

// bands returns the background of each run of spine states of one fragment.
func (p *plan) bands(spine rect) []band {
	var bands []band
	for row := range p.spine {
		if p.bandAbove(row) > 0 {
			bands = append(bands, band{name: clean(p.group(row)),
				rect: rect{x: spine.x - boxInset, y: p.rowTop[row] - bandHead, w: spine.w + 2*boxInset}})
		}
		if p.bandBelow(row) > 0 {
			b := &bands[len(bands)-1]
			b.h = p.rowLow[row] + bandFoot - b.y
		}
	}
	return bands
}
