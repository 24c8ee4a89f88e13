package catalogue

import (
	"fmt"

	"github.com/detent-dev/detent/graph"
)

// Format of a drawing.
type Format string

// The supported formats.
const (
	Text    Format = "text"
	SVG     Format = "svg"
	Mermaid Format = "mermaid"
	DOT     Format = "dot"
	JSON    Format = "json"
)

// Formats lists the supported formats, the default first.
func Formats() []Format { return []Format{Text, SVG, Mermaid, DOT, JSON} }

func render(g graph.Graph, live *graph.Live, r Request) (Drawing, error) {
	switch r.Format {
	case Text, "":
		return Drawing{Content: []byte(graph.Text(g, live, r.Text))}, nil
	case SVG:
		return Drawing{Content: []byte(graph.SVG(g, live, r.Theme))}, nil
	case Mermaid:
		return Drawing{Content: []byte(graph.Mermaid(g, live))}, nil
	case DOT:
		return Drawing{Content: []byte(graph.DOT(g, live))}, nil
	case JSON:
		content, err := graph.JSON(g, live)
		return Drawing{Content: content}, err
	}
	return Drawing{}, fmt.Errorf("there is no format %q: there are %s", r.Format, listed(Formats()))
}
