package machinetest

import (
	"strings"

	"github.com/detent-dev/detent/transitions"
)

// items are what a table must cover: edges and answers of guards.
type items struct {
	order []string
	edge  map[string]bool
	// met are the items that some row shows. missed are the items with a mutant that no row detects.
	met, missed map[string]bool
}

func newItems() *items {
	return &items{edge: map[string]bool{}, met: map[string]bool{}, missed: map[string]bool{}}
}

func (i *items) owe(item string, edge bool) {
	if _, known := i.edge[item]; known {
		return
	}
	i.order = append(i.order, item)
	i.edge[item] = edge
}

func (i *items) count(edges bool) (covered, all int) {
	for _, item := range i.order {
		if i.edge[item] != edges {
			continue
		}
		all++
		if i.met[item] && !i.missed[item] {
			covered++
		}
	}
	return covered, all
}

// lack returns the message that no row shows the item.
func (i *items) lack(item string) string {
	switch {
	case i.edge[item]:
		return "no row takes " + item
	case strings.HasPrefix(item, guardLabel("")) && !strings.HasSuffix(item, transitions.Unknown.String()):
		return "there is no row in which it matters that " + item
	default:
		return "there is no row in which " + item
	}
}

func edgeItem(event, from string) string { return "edge " + edgeLabel(event, from) }

func inferredItem(to string) string { return "edge inferred to " + to }

func guardLabel(name string) string { return "guard " + name }

func answerItem(of string, answer transitions.Answer) string { return of + " says " + answer.String() }
