package graph

import "slices"

// span is the vertical part of a bus, with the heights at which horizontals meet it: near
// ones come from the side of column 0, far ones from the other side.
type span struct {
	lo, hi    int
	near, far []int
	outer     bool // placed beyond all spans that are not outer
}

// columns assigns each span a column so that no two spans of a column overlap, with few
// crossings: short spans first, then single moves while they reduce crossings. Spans closer
// than gap count as overlapping. It returns the columns and their number.
func columns(spans []span, gap int) ([]int, int) {
	order := make([]int, len(spans))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if spans[a].outer != spans[b].outer {
			if spans[a].outer {
				return 1
			}
			return -1
		}
		return (spans[a].hi - spans[a].lo) - (spans[b].hi - spans[b].lo)
	})
	order = untangle(spans, order)
	column := make([]int, len(spans))
	count := 0
	for at, i := range order {
		column[i] = cheapest(spans, column, order[:at], i, gap)
		count = max(count, column[i]+1)
	}
	return column, count
}

// cheapest returns the free column in which a span crosses the fewest spans placed before
// it, the nearest of equals. An outer span goes beyond all that it overlaps.
func cheapest(spans []span, column []int, placed []int, i, gap int) int {
	var met []int
	beyond := 0
	for _, j := range placed {
		if spans[i].lo-gap < spans[j].hi && spans[j].lo-gap < spans[i].hi {
			met = append(met, j)
			beyond = max(beyond, column[j]+1)
		}
	}
	if spans[i].outer {
		return beyond
	}
	best, least := beyond, -1
	for c := range beyond + 1 {
		cost, free := 0, true
		for _, j := range met {
			free = free && column[j] != c
			if c < column[j] {
				cost += crossings(spans, []int{i, j})
			} else {
				cost += crossings(spans, []int{j, i})
			}
		}
		if free && (least < 0 || cost < least) {
			best, least = c, cost
		}
	}
	return best
}

// untangle moves one span at a time to where it has the fewest crossings, until no move
// reduces them.
func untangle(spans []span, order []int) []int {
	best := crossings(spans, order)
	for improved := true; improved && best > 0; {
		improved = false
		for from := range order {
			for to := range order {
				if spans[order[from]].outer != spans[order[to]].outer {
					continue
				}
				moved := slices.Delete(slices.Clone(order), from, from+1)
				moved = slices.Insert(moved, to, order[from])
				if n := crossings(spans, moved); n < best {
					order, best, improved = moved, n, true
				}
			}
		}
	}
	return order
}

// crossings counts where a horizontal of one span crosses the vertical of another.
func crossings(spans []span, order []int) int {
	n := 0
	for at, a := range order {
		for _, b := range order[at+1:] {
			n += within(spans[a], spans[b].near) + within(spans[b], spans[a].far)
		}
	}
	return n
}

func within(s span, ys []int) int {
	n := 0
	for _, y := range ys {
		if s.lo <= y && y <= s.hi {
			n++
		}
	}
	return n
}
