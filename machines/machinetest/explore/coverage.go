package explore

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"testing"
)

// Together checks the reports on all subjects of the same machines for what a single one cannot show: that every declared edge
// was taken in at least one of them, and that every kind of fault was injected. never names the edges that no subject can take,
// each with the reason. A named edge that was taken is an error too, so that the list stays short. Together prints the table.
//
// It checks nothing if one story was repeated.
func Together(t *testing.T, to io.Writer, never map[string]string, reports ...*Report) {
	t.Helper()
	if slices.ContainsFunc(reports, func(r *Report) bool { return r.repeated }) {
		return
	}
	edges := edgesOf(reports)
	for name := range never {
		if !slices.ContainsFunc(edges, func(e taking) bool { return e.name == name }) {
			t.Errorf("the edge %s is excused from firing, and is not declared", name)
		}
	}
	for _, e := range edges {
		reason := never[e.name]
		if e.times == 0 && e.optional {
			reason = "need not: for old persisted states, or for facts that no machine here needs to find its place"
		}
		switch {
		case e.times > 0 && reason != "":
			t.Errorf("the edge %s is excused from firing (%s), and fired %d times: excuse it no more", e.name, reason, e.times)
		case e.times == 0 && reason == "":
			t.Errorf("the edge %s never fired in any subject: add an event that needs it, fix its guard, or drop it", e.name)
		}
		_, _ = fmt.Fprintf(to, "edge %-90s %9d %s\n", e.name, e.times, reason)
	}
	everyFaultInjected(t, to, reports)
}

// edgesOf returns the edges of the reports without duplicates, with how often each was taken in all of them.
func edgesOf(reports []*Report) []taking {
	var out []taking
	for _, r := range reports {
		for _, e := range r.edges {
			i := slices.IndexFunc(out, func(o taking) bool { return o.name == e.name })
			if i < 0 {
				out = append(out, e)
				continue
			}
			out[i].times += e.times
		}
	}
	slices.SortFunc(out, func(a, b taking) int { return cmp.Compare(a.name, b.name) })
	return out
}

// everyFaultInjected checks that every kind of fault was injected, except those that a subject excludes.
func everyFaultInjected(t *testing.T, to io.Writer, reports []*Report) {
	t.Helper()
	kinds := Faults()
	for _, r := range reports {
		kinds = append(kinds, r.required...)
	}
	slices.Sort(kinds)
	for _, fault := range slices.Compact(kinds) {
		times, left := 0, true
		for _, r := range reports {
			times += r.Faults[fault]
			left = left && slices.Contains(r.without, fault)
		}
		if times == 0 && !left {
			t.Errorf("the fault %q was never injected in any subject", fault)
		}
		_, _ = fmt.Fprintf(to, "fault %-40s %9d\n", fault, times)
	}
}
