package graph

import (
	"fmt"
	"strings"
)

// DOT writes the graph in the language of Graphviz, for users who want another layout. Back
// edges do not affect the ranks, fragments are clusters. live is optional.
func DOT(g Graph, live *Live) string {
	l := arrange(g, live)
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n", quote(g.Name))
	b.WriteString("  rankdir=TB; nodesep=0.4; fontname=\"sans-serif\";\n")
	b.WriteString("  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n")
	b.WriteString("  edge [fontname=\"sans-serif\", fontsize=10];\n")
	dotStates(&b, l, live)
	for _, w := range l.wires {
		for _, e := range w.edges {
			fmt.Fprintf(&b, "  s%d -> s%d [%s];\n", w.from, w.to, dotEdge(w, e, live))
		}
	}
	if lines := Summary(g); len(lines) > 0 {
		fmt.Fprintf(&b, "  label=%s; labelloc=b;\n", quote(strings.Join(lines, "\n")))
	}
	b.WriteString("}\n")
	return b.String()
}

// dotStates writes states in declaration order, those of a fragment together.
func dotStates(b *strings.Builder, l *lanes, live *Live) {
	done := map[string]bool{}
	for i, box := range l.boxes {
		if box.Group == "" {
			fmt.Fprintf(b, "  s%d [%s];\n", i, dotState(box, i == l.initial, live))
			continue
		}
		if done[box.Group] {
			continue
		}
		fmt.Fprintf(b, "  subgraph cluster_%d {\n    label=%s; style=dotted;\n", len(done), quote(box.Group))
		done[box.Group] = true
		for j, other := range l.boxes {
			if other.Group == box.Group {
				fmt.Fprintf(b, "    s%d [%s];\n", j, dotState(other, j == l.initial, live))
			}
		}
		b.WriteString("  }\n")
	}
}

func dotState(b *box, initial bool, live *Live) string {
	attrs := []string{"label=" + quote(b.Name+"\n"+live.stateLine(b)), "tooltip=" + quote(b.Doc)}
	if initial {
		attrs = append(attrs, "root=true")
	}
	switch {
	case live.at(b.Name):
		attrs = append(attrs, `style="rounded,filled"`, `fillcolor="#1d4ed8"`, `fontcolor="#ffffff"`, "penwidth=3")
	case b.implied():
		attrs = append(attrs, "style=dashed")
	case b.Kind == Hold:
		attrs = append(attrs, "style=solid", `color="#b45309"`, "penwidth=2")
	case b.Kind == Rest:
		attrs = append(attrs, "peripheries=2")
	}
	if live.visits(b.Name) > 0 && !live.at(b.Name) && b.Kind != Hold {
		attrs = append(attrs, "penwidth=2")
	}
	return strings.Join(attrs, ", ")
}

func dotEdge(w *wire, e Edge, live *Live) string {
	text := edgeText(e)
	if n := live.walked(e); n > 1 {
		text += fmt.Sprintf(" ×%d", n)
	}
	attrs := []string{"label=" + quote(text)}
	if e.OneWay {
		attrs = append(attrs, `color="black:white:black"`)
	}
	if w.route == left || w.route == right {
		attrs = append(attrs, "style=dashed", "constraint=false")
	}
	if live.walked(e) > 0 {
		attrs = append(attrs, "penwidth=2")
	}
	return strings.Join(attrs, ", ")
}

// quote returns a DOT string. Line ends become DOT's escape for them; a backslash in the
// text stays a backslash.
func quote(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(clean(line))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
