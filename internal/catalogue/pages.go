package catalogue

import (
	"fmt"
	"strings"

	"github.com/detent-dev/detent/graph"
	"github.com/detent-dev/detent/internal/drawing"
	"github.com/detent-dev/detent/machines"
)

// Pages returns the documentation of the machines as file contents by file name: an index, and a page and two pictures for each
// machine. Equal machines give equal bytes.
func Pages(all []machines.Graph) map[string]string {
	files := make(map[string]string, 3*len(all)+1)
	for i := range all {
		g := drawing.Of(all[i])
		light, dark := g.Name+".svg", g.Name+"-dark.svg"
		files[light] = graph.SVG(g, nil, graph.Light)
		files[dark] = graph.SVG(g, nil, graph.Dark)
		files[g.Name+".md"] = graph.Page(g, graph.PageOptions{Light: light, Dark: dark})
	}
	files["README.md"] = index(all)
	return files
}

func index(all []machines.Graph) string {
	var b strings.Builder
	b.WriteString("<!-- Generated from the machines' declarations. Do not edit. -->\n# Machines\n\n")
	b.WriteString("Each page is generated from the code that runs. `detent graph MACHINE` draws the same in a terminal, and\n")
	b.WriteString("`detent graph TYPE/NAME` draws the state of an object.\n\n")
	b.WriteString("| Machine | What it does | States | Transitions |\n|---|---|---|---|\n")
	for i := range all {
		declared := 0
		for j := range all[i].Edges {
			if all[i].Edges[j].Class == machines.Declared {
				declared++
			}
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %d | %d |\n", all[i].Name, all[i].Name, all[i].Doc, len(all[i].States), declared)
	}
	return b.String()
}
