package explore

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/detent-dev/detent/machines"
)

// Report is what a search found.
type Report struct {
	Subject string
	// States that differ and were judged, of which Expanded were searched: all that may happen next was tried. Left were not any
	// more, Followed of them until they came to rest.
	States, Expanded, Left, Followed int
	// Steps that were tried, and how many passes they took.
	Steps, Passes int
	// Within is how many faults there may be, one after the other, so that every state that they lead to was searched; of
	// Faulty faults it was only some.
	Within, Faulty int
	// Complete says that there is nothing else: every state that can be reached was searched.
	Complete bool
	Took     time.Duration
	// Faults counts how often each happened; Cells how many states it led to, by where the lifecycles stood.
	Faults map[Fault]int
	Cells  map[Cell]int
	// Edges counts how often each edge was taken; Unfired are those that never were.
	Edges   map[edge]int
	Unfired []string
	fired   []string
	// Longest is how many passes it took at most to come to rest once nothing went wrong any more.
	Longest    int
	Violations []Violation
	told       map[string]bool
	// drawn says that not all states of the levels from the next one on are searched.
	drawn bool
	// found says that what the search was to find was.
	found bool
}

// levelDone says that what was to be searched of a level was: all of it, or some.
func (r *Report) levelDone(some bool) {
	if !some {
		r.Within = r.Faulty
	}
	r.Faulty++
}

// Cell is where a lifecycle stood when something happened.
type Cell struct {
	Standing string
	Fault    Fault
}

// Violation is something wrong, with the shortest story of how it comes about.
type Violation struct {
	What  string
	Story []string
}

// String tells it.
func (v Violation) String() string {
	var b strings.Builder
	b.WriteString(v.What)
	for i, line := range v.Story {
		fmt.Fprintf(&b, "\n  %2d. %s", i+1, line)
	}
	return b.String()
}

const mostViolations = 8

func newReport(subject string) *Report {
	return &Report{Subject: subject, Faults: map[Fault]int{}, Cells: map[Cell]int{}, Edges: map[edge]int{}, told: map[string]bool{}}
}

func (r *Report) count(standing string, fault Fault, isNew bool) {
	if isNew {
		r.Cells[Cell{standing, fault}]++
	}
}

// violated takes something wrong down once, with its story: the way to the state, then the move if one is given, then so many
// steps in which nothing goes wrong.
func (s *search[O, V, E]) violated(what string, number int32, move, calm int) {
	if s.report.told[what] || len(s.report.Violations) >= mostViolations {
		return
	}
	s.report.told[what] = true
	s.report.found = s.options.Until != "" && strings.Contains(what, s.options.Until)
	moves := s.moves(number)
	if move >= 0 {
		moves = append(moves, move)
	}
	s.report.Violations = append(s.report.Violations, Violation{What: what, Story: s.story(moves, calm)})
}

// story puts moves into words, and the steps after them in which nothing goes wrong.
func (s *search[O, V, E]) story(moves []int, calm int) []string {
	w := s.workers[0]
	w.tell = true
	defer func() { w.tell = false }()
	at, err := w.begin()
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, move := range moves {
		all := w.steps(at)
		if move >= len(all) {
			return append(out, "the story cannot be repeated: the kind does not do the same twice")
		}
		out = append(out, all[move].told())
		at = all[move].after
	}
	const most = 60
	for i := range calm {
		one, ok := w.calmly(at)
		if !ok {
			break
		}
		if i == most {
			return append(out, "... and so on")
		}
		out = append(out, one.told())
		at = one.after
	}
	return out
}

func (s step) told() string {
	if s.passed == nil || len(s.passed.said) == 0 {
		return s.name
	}
	return s.name + ": " + strings.Join(s.passed.said, "; ")
}

// standing is where the lifecycles stand.
func (w *worker[O, V, E]) standing(s *state) string {
	r := w.main(s.live)
	if r == nil {
		return "gone"
	}
	out := ""
	for _, lc := range w.lifecycles {
		name := "-"
		if e := entryOf(r.object, lc.Name()); e != nil {
			name = e.State
		}
		if out != "" {
			out += " + "
		}
		out += name
	}
	return out
}

// conclude says which declared edges fired, and which never did.
func (s *search[O, V, E]) conclude() {
	r := s.report
	r.States, r.Took = len(s.nodes), time.Since(s.begun)
	for _, lc := range s.workers[0].lifecycles {
		for _, e := range lc.Graph().Edges {
			certain := e.To == machines.Locating && len(lc.Needs(nil)) == 0 // what costs no call can always be located
			name := fmt.Sprintf("%s: %s from %s to %s", lc.Graph().Name, e.Event, cmp.Or(e.From, "anywhere"), e.To)
			switch {
			case r.took(lc.Name(), &e):
				r.fired = append(r.fired, name)
			case e.Class != machines.Migrated && !certain && s.subject.Unfired[name] == "":
				r.Unfired = append(r.Unfired, name)
			}
		}
	}
	slices.Sort(r.Unfired)
	slices.Sort(r.fired)
}

// took says whether an edge was taken by the lifecycle.
func (r *Report) took(lifecycle string, e *machines.GraphEdge) bool {
	for taken := range r.Edges {
		if taken.lifecycle == lifecycle && taken.event == e.Event && (e.From == "" || taken.from == e.From) && taken.to == e.To {
			return true
		}
	}
	return false
}

// Fired are the declared edges that were taken, in words.
func (r *Report) Fired() []string { return r.fired }

// String is the report on one line.
func (r *Report) String() string {
	all := fmt.Sprintf("all within %d faults, some of %d", r.Within, r.Faulty)
	switch {
	case r.Complete:
		all = "all there are"
	case r.Faulty == 0:
		all = "some without a fault"
	}
	return fmt.Sprintf("explored %s: %d states searched of %d met (%s), %d steps, %d passes, %d edges fired, %d not, rest within %d passes, %d violations, %s, %.0f states/s",
		r.Subject, r.Expanded, r.States, all, r.Steps, r.Passes, len(r.fired), len(r.Unfired), r.Longest, len(r.Violations),
		r.Took.Round(time.Millisecond), float64(r.Expanded)/r.Took.Seconds())
}

// Table writes how many new states each fault led to, by where the lifecycles stood.
func (r *Report) Table(to io.Writer) error {
	faults := slices.SortedFunc(maps.Keys(r.Faults), func(a, b Fault) int { return strings.Compare(string(a), string(b)) })
	standings := map[string]bool{}
	for c := range r.Cells {
		standings[c.Standing] = true
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
