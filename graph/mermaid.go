package graph

import (
	"fmt"
	"strings"
	"unicode"
)

// Mermaid draws the graph as a Mermaid state diagram (stateDiagram-v2), which code hosts
// render inside Markdown. States get generated identifiers and their names are labels.
// Everything but letters, digits and plain punctuation is written as character references,
// so that no name can be parsed as syntax. live is optional.
//
// Edges from all states are in comments: drawn, they would hide the path.
func Mermaid(g Graph, live *Live) string {
	l := arrange(g, live)
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n    direction TB\n")
	for i, box := range l.boxes {
		fmt.Fprintf(&b, "    state \"%s\" as s%d\n", mermaidText(mermaidName(box)), i)
	}
	if l.initial >= 0 {
		fmt.Fprintf(&b, "    [*] --> s%d\n", l.initial)
	}
	for _, w := range l.wires {
		for _, e := range w.edges {
			fmt.Fprintf(&b, "    s%d --> s%d%s\n", w.from, w.to, mermaidLabel(e, live))
		}
	}
	for _, line := range Summary(g) {
		fmt.Fprintf(&b, "    %%%% %s\n", mermaidComment(line))
	}
	mermaidClasses(&b, l, live)
	return b.String()
}

// mermaidName is never empty: an empty label is a syntax error.
func mermaidName(b *box) string {
	switch {
	case strings.TrimSpace(clean(b.Name)) == "":
		return "(no name)"
	case b.implied():
		return b.Name + " (" + b.note + ")"
	}
	return b.Name
}

func mermaidLabel(e Edge, live *Live) string {
	text := edgeText(e)
	if n := live.walked(e); n > 1 {
		text += fmt.Sprintf(" ×%d", n)
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return " : " + mermaidText(text)
}

// mermaidClasses distinguishes kinds by their border, so that the host's theme, light or
// dark, keeps its fills and text colours.
func mermaidClasses(b *strings.Builder, l *lanes, live *Live) {
	classes := []struct{ name, style string }{
		{"rest", "stroke-width:1px"},
		{"work", "stroke-width:2px"},
		{"wait", "stroke-width:1px,stroke-dasharray:5 3"},
		{"hold", "stroke:#d97706,stroke-width:3px"},
		{"current", "fill:#1d4ed8,stroke:#1d4ed8,color:#ffffff"},
	}
	for _, c := range classes {
		var members []string
		for i, box := range l.boxes {
			if class := mermaidClass(box, live); class == c.name {
				members = append(members, fmt.Sprintf("s%d", i))
			}
		}
		if len(members) > 0 {
			fmt.Fprintf(b, "    classDef %s %s\n    class %s %s\n", c.name, c.style, strings.Join(members, ","), c.name)
		}
	}
}

func mermaidClass(b *box, live *Live) string {
	switch {
	case live.at(b.Name):
		return "current"
	case b.implied():
		return ""
	}
	return strings.ToLower(string(b.Kind))
}

// mermaidText escapes a label. Mermaid replaces #nnn; by the character with that number.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range clean(s) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" -_.,/()?!+=×→·", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

// mermaidComment replaces what Mermaid could parse as a directive or a reference in a
// comment.
func mermaidComment(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("%{}#;`", r) {
			return '?'
		}
		return r
	}, clean(s))
}
