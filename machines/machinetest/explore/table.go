package explore

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// extent returns how much of the reachable states was searched.
func (r *Report) extent() string {
	switch {
	case r.Complete:
		return "all there are"
	case r.Faulty == 0:
		return "some without a fault"
	}
	within := fmt.Sprintf("all within %d faults", r.Within)
	switch r.Within {
	case 0:
		within = "all without a fault"
	case 1:
		within = "all within one fault"
	}
	return fmt.Sprintf("%s, some of %d", within, r.Faulty)
}

// FiguresHeader is the header of the rows of figures, as markdown.
const FiguresHeader = `| subject | searched | met and judged | steps | passes | extent | rest within | wrong | time |
|---|---|---|---|---|---|---|---|---|
`

// Figures returns the report as a row of markdown.
func (r *Report) Figures() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %d passes | %d | %s |\n", r.Subject, grouped(r.Expanded), grouped(r.States),
		grouped(r.Steps), grouped(r.Passes), r.extent(), r.Longest, len(r.Violations), r.Took.Round(time.Second))
}

// grouped separates thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Table writes how many new states each fault led to, by the states of the lifecycles.
func (r *Report) Table(to io.Writer) error {
	faults := slices.SortedFunc(maps.Keys(r.Faults), func(a, b Fault) int { return strings.Compare(string(a), string(b)) })
	standings := map[string]bool{}
	for c := range r.Cells {
		standings[c.States] = true
	}
	w := tabwriter.NewWriter(to, 0, 0, 1, ' ', tabwriter.AlignRight)
	line := []string{r.Subject, "calm"}
	for _, f := range faults {
		if f != "" {
			line = append(line, string(f))
		}
	}
	_, _ = fmt.Fprintln(w, strings.Join(line, "\t")+"\t")
	for _, s := range slices.Sorted(maps.Keys(standings)) {
		line = []string{s, fmt.Sprint(r.Cells[Cell{s, ""}])}
		for _, f := range faults {
			if f != "" {
				line = append(line, fmt.Sprint(r.Cells[Cell{s, f}]))
			}
		}
		_, _ = fmt.Fprintln(w, strings.Join(line, "\t")+"\t")
	}
	return w.Flush()
}

// Overlaps writes which guards said yes together and how often. The guard that is declared first comes first.
func (r *Report) Overlaps(to io.Writer) {
	all := slices.SortedFunc(maps.Keys(r.Rivals), func(a, b Rivals) int {
		return cmp.Or(cmp.Compare(a.Lifecycle, b.Lifecycle), cmp.Compare(a.State, b.State), cmp.Compare(a.Taken, b.Taken), cmp.Compare(a.Left, b.Left))
	})
	for _, o := range all {
		_, _ = fmt.Fprintf(to, "both guards said yes, %s: in %s of %s, %s goes before %s, %d times\n", r.Subject, o.State, o.Lifecycle, o.Taken, o.Left, r.Rivals[o])
	}
}
