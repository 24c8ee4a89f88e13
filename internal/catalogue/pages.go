package catalogue

import (
	"fmt"
	"strings"

	"github.com/detent-dev/detent/graph"
	"github.com/detent-dev/detent/machines"
)

// Pages returns the documentation of the machines as file contents by file name: an index, and a page and two pictures for each
// machine. Equal machines give equal bytes.
func Pages(all []Machine) map[string]string {
	files := make(map[string]string, 3*len(all)+1)
	for i := range all {
		g := Drawable(all[i].Graph)
		light, dark := g.Name+".svg", g.Name+"-dark.svg"
		files[light] = graph.SVG(g, nil, graph.Light)
		files[dark] = graph.SVG(g, nil, graph.Dark)
		files[g.Name+".md"] = graph.Page(g, graph.PageOptions{Light: light, Dark: dark})
	}
	files["README.md"] = index(all)
	return files
}

func index(all []Machine) string {
	var b strings.Builder
	b.WriteString("<!-- Generated from the machines' declarations. Do not edit. -->\n# Machines\n\n")
	b.WriteString("Each page is generated from the code that runs. `detent graph MACHINE` draws the same in a terminal, and\n")
	b.WriteString("`detent graph TYPE/NAME` draws the state of an object.\n\n")
	b.WriteString("| Machine | What it does | States | Transitions |\n|---|---|---|---|\n")
	for i := range all {
		m, declared := all[i].Graph, 0
		for j := range m.Edges {
			if m.Edges[j].Class == machines.Declared {
				declared++
			}
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %d | %d |\n", m.Name, m.Name, m.Doc, len(m.States), declared)
	}
	return b.String()
}
