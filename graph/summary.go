package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Summary describes in a line per class the edges that are not drawn, because they lead
// from many states and would hide the path: "inferred: from any state → Checking, Settled".
func Summary(g Graph) []string {
	var lines []string
	for _, c := range []struct {
		class Class
		word  string
	}{{Declared, "declared"}, {TargetChanged, "target changed"}, {Inferred, "inferred"}, {Migrated, "migrated"}, {DeletionRequested, "deletion requested"}} {
		if text := summarise(g, c.class); text != "" {
			lines = append(lines, c.word+": "+text)
		}
	}
	return lines
}

// summarise groups the ends of a class's edges by the states that they come from.
func summarise(g Graph, class Class) string {
	from := map[string][]string{} // by end
	var ends []string
	for _, e := range g.Edges {
		if e.class() != class || e.drawn() {
			continue
		}
		if _, ok := from[e.To]; !ok {
			ends = append(ends, e.To)
		}
		from[e.To] = append(from[e.To], e.From)
	}
	var order []string
	byStart := map[string][]string{}
	for _, end := range ends {
		start := starts(g, end, from[end])
		if _, ok := byStart[start]; !ok {
			order = append(order, start)
		}
		byStart[start] = append(byStart[start], clean(end))
	}
	var parts []string
	for _, start := range order {
		parts = append(parts, "from "+start+" → "+strings.Join(byStart[start], ", "))
	}
	return strings.Join(parts, "; ")
}

// starts names a set of states exactly, in as few words as possible. An edge from a state
// to itself has no meaning, so "any state" does not require it.
func starts(g Graph, end string, from []string) string {
	if slices.Contains(from, AnyState) {
		return "any state"
	}
	var in, out []string
	for _, s := range g.States {
		if slices.Contains(from, s.Name) {
			in = append(in, clean(s.Name))
		} else if s.Name != end {
			out = append(out, clean(s.Name))
		}
	}
	for _, name := range from {
		if !slices.ContainsFunc(g.States, func(s State) bool { return s.Name == name }) && !slices.Contains(in, clean(name)) {
			in = append(in, clean(name))
		}
	}
	switch {
	case len(out) == 0:
		return "any state"
	case len(in) > 3 && len(out) <= 3:
		return "any state but " + strings.Join(out, ", ")
	case len(in) > 4:
		return fmt.Sprintf("%s and %d more", strings.Join(in[:3], ", "), len(in)-3)
	}
	return strings.Join(in, ", ")
}
