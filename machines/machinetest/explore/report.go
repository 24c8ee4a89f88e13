package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
	// Rivals counts how often the guards of two edges said yes at once.
	Rivals map[Rivals]int
	// edges are the declared ones, in order, with how often each was taken.
	edges []taking
	// without are the faults that were left out, demanded those of the world that must strike.
	without, demanded []Fault
	// seed of the search; repeated says that one story was repeated and nothing searched.
	seed     uint64
	repeated bool
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

// taking is a declared edge and how often it was taken.
type taking struct {
	name  string
	times int
	// optional edges are those of old bookmarks, and those that cannot be needed.
	optional bool
}

// Violation is something wrong, with the shortest story of how it comes about.
type Violation struct {
	What  string
	Story []string
	// Moves repeat the story: they are Options.Repeat.
	Moves []int
	// Command repeats it from a shell, if Run found it.
	Command string
}

// String tells it.
func (v Violation) String() string {
	var b strings.Builder
	b.WriteString(v.What)
	for i, line := range v.Story {
		fmt.Fprintf(&b, "\n  %2d. %s", i+1, line)
	}
	if v.Command != "" {
		fmt.Fprintf(&b, "\n  again: %s", v.Command)
	}
	return b.String()
}

const mostViolations = 8

func newReport(subject string) *Report {
	return &Report{Subject: subject, Faults: map[Fault]int{}, Cells: map[Cell]int{}, Edges: map[edge]int{}, Rivals: map[Rivals]int{}, told: map[string]bool{}}
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
	s.report.Violations = append(s.report.Violations, Violation{What: what, Story: s.story(moves, calm), Moves: moves})
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
	for i := range calm {
		one, ok := w.calmly(at)
		if !ok {
			break
		}
		out = append(out, one.told())
		if goesRound(out) {
			return append(out, fmt.Sprintf("and so on, for %d steps more", calm-i-1))
		}
		at = one.after
	}
	return out
}

// goesRound says whether the story has begun to repeat itself.
func goesRound(story []string) bool {
	const longest = 8
	for period := 1; period <= longest && 2*period <= len(story); period++ {
		end := len(story) - period
		if slices.Equal(story[end:], story[end-period:end]) {
			return true
		}
	}
	return false
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
	r.without, r.demanded, r.seed = s.subject.Without, s.subject.Faults, s.options.Seed
	for _, lc := range s.workers[0].lifecycles {
		for _, e := range lc.Graph().Edges {
			certain := e.To == machines.Locating && len(lc.Needs(nil)) == 0 // what costs no call can always be located
			t := taking{
				name:  fmt.Sprintf("%s: %s from %s to %s", lc.Graph().Name, e.Event, cmp.Or(e.From, "anywhere"), e.To),
				times: r.took(lc.Name(), &e), optional: e.Class == machines.Migrated || certain,
			}
			r.edges = append(r.edges, t)
			if t.times == 0 && !t.optional && s.subject.Unfired[t.name] == "" {
				r.Unfired = append(r.Unfired, t.name)
			}
		}
	}
	slices.Sort(r.Unfired)
}

// took says how often an edge was taken by the lifecycle.
func (r *Report) took(lifecycle string, e *machines.GraphEdge) (times int) {
	for taken, n := range r.Edges {
		if taken.lifecycle == lifecycle && taken.event == e.Event && (e.From == "" || taken.from == e.From) && taken.to == e.To {
			times += n
		}
	}
	return times
}

// fired counts the declared edges that were taken.
func (r *Report) fired() (n int) {
	for _, e := range r.edges {
		if e.times > 0 {
			n++
		}
	}
	return n
}

// String is the report on one line.
func (r *Report) String() string {
	return fmt.Sprintf("explored %s: %d states searched of %d met (%s, seed %d), %d steps, %d passes, %d edges fired, %d not, rest within %d passes, %d violations, %s, %.0f states/s",
		r.Subject, r.Expanded, r.States, r.extent(), r.seed, r.Steps, r.Passes, r.fired(), len(r.Unfired), r.Longest, len(r.Violations),
		r.Took.Round(time.Millisecond), float64(r.Expanded)/r.Took.Seconds())
}
