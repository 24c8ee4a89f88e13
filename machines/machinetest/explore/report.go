package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/detent-dev/detent/machines"
)

// Report is the result of a search.
type Report struct {
	Subject string
	// States is the number of distinct states that were checked. Expanded were searched: all their next steps were tried. Left
	// were not searched; Followed is the number of these that were followed until they rested.
	States, Expanded, Left, Followed int
	// Inspected states passed the inspection of the Subject, or are among the Violations.
	Inspected int
	// Steps that were tried, and the reconciles in them.
	Steps, Passes int
	// Within is the number of consecutive faults up to which every reachable state was searched. Of those after Faulty faults
	// only some were.
	Within, Faulty int
	// Complete means that every reachable state was searched.
	Complete bool
	Took     time.Duration
	// Faults counts how often each fault occurred. Cells counts the new states that it led to, by the states of the lifecycles.
	Faults map[Fault]int
	Cells  map[Cell]int
	// Edges counts how often each edge was taken. Unfired are those that never were.
	Edges   map[edge]int
	Unfired []string
	// Rivals counts how often the guards of two edges said yes together.
	Rivals map[Rivals]int
	// edges are the declared edges in order, with how often each was taken.
	edges []taking
	// without are the faults that were excluded, required those of the world that must occur.
	without, required []Fault
	// seed of the search. repeated means that one story was repeated and nothing searched.
	seed     uint64
	repeated bool
	// Longest is the maximum number of reconciles until rest once no further fault occurred.
	Longest    int
	Violations []Violation
	reported   map[string]bool
	// drawn means that only some states of the next levels are searched.
	drawn bool
	// found means that the violation named by Options.Until was found.
	found bool
}

// levelDone counts a level of faults as searched, completely or in part.
func (r *Report) levelDone(some bool) {
	if !some {
		r.Within = r.Faulty
	}
	r.Faulty++
}

// Cell is the states of the lifecycles when a fault occurred.
type Cell struct {
	States string
	Fault  Fault
}

// taking is a declared edge and how often it was taken.
type taking struct {
	name  string
	times int
	// optional edges are migrations, and those that cannot be needed.
	optional bool
}

// Violation is a defect, with the shortest story that leads to it.
type Violation struct {
	What  string
	Story []string
	// Moves repeat the story as Options.Repeat.
	Moves []int
	// Command repeats the story from a shell, if Run found it.
	Command string
}

// String formats the violation with its story.
func (v Violation) String() string {
	var b strings.Builder
	b.WriteString(v.What)
	for i, line := range v.Story {
		fmt.Fprintf(&b, "\n  %2d. %s", i+1, line)
	}
	if v.Command != "" {
		fmt.Fprintf(&b, "\n  repeat: %s", v.Command)
	}
	return b.String()
}

const mostViolations = 8

func newReport(subject string) *Report {
	return &Report{Subject: subject, Faults: map[Fault]int{}, Cells: map[Cell]int{}, Edges: map[edge]int{}, Rivals: map[Rivals]int{}, reported: map[string]bool{}}
}

func (r *Report) count(state string, fault Fault, isNew bool) {
	if isNew {
		r.Cells[Cell{state, fault}]++
	}
}

// violated records a defect once, with its story: the path to the state, then the move if one is given, then a number of steps
// without faults.
func (s *search[O, S, E]) violated(what string, number int32, move, calm int) {
	if s.report.reported[what] || len(s.report.Violations) >= mostViolations {
		return
	}
	s.report.reported[what] = true
	s.report.found = s.options.Until != "" && strings.Contains(what, s.options.Until)
	moves := s.moves(number)
	if move >= 0 {
		moves = append(moves, move)
	}
	s.report.Violations = append(s.report.Violations, Violation{What: what, Story: s.story(moves, calm), Moves: moves})
}

// story describes the moves, and the steps without faults after them.
func (s *search[O, S, E]) story(moves []int, calm int) []string {
	w := s.workers[0]
	w.describes = true
	defer func() { w.describes = false }()
	at, err := w.begin()
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, move := range moves {
		all := w.steps(at)
		if move >= len(all) {
			return append(out, "the story cannot be repeated: the kind is not deterministic")
		}
		out = append(out, all[move].describe())
		at = all[move].after
	}
	for i := range calm {
		one, ok := w.calmly(at)
		if !ok {
			break
		}
		out = append(out, one.describe())
		if goesRound(out) {
			return append(out, fmt.Sprintf("and so on, for %d steps more", calm-i-1))
		}
		at = one.after
	}
	return out
}

// goesRound reports whether the story repeats its last steps.
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

// describe returns the name of the step and what was done in it.
func (s step) describe() string {
	if s.passed == nil || len(s.passed.said) == 0 {
		return s.name
	}
	return s.name + ": " + strings.Join(s.passed.said, "; ")
}

// lifecycleStates returns the states of the lifecycles.
func (w *worker[O, S, E]) lifecycleStates(s *state) string {
	r := w.main(s.live)
	if r == nil {
		return "gone"
	}
	out := ""
	for _, lc := range w.instances(r.Object) {
		name := "-"
		if e := entryOf(r.Object, lc.Name()); e != nil {
			name = e.State
		}
		if out != "" {
			out += " + "
		}
		out += name
	}
	return out
}

// conclude determines which declared edges were taken, and which never were.
func (s *search[O, S, E]) conclude() {
	r := s.report
	r.States, r.Took = len(s.nodes), time.Since(s.begun)
	r.without, r.required, r.seed = s.subject.Without, s.subject.Faults, s.options.Seed
	for _, lc := range s.workers[0].lifecycles {
		for _, e := range lc.Graph().Edges {
			certain := e.To == machines.Inferring && len(lc.Needs(nil)) == 0 // a state without needs can always be inferred
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

// took returns how often the lifecycle took an edge.
func (r *Report) took(lifecycle string, e *machines.GraphEdge) (times int) {
	for taken, n := range r.Edges {
		if name, _ := machines.SplitEntryName(taken.lifecycle); name == lifecycle && taken.event == e.Event && (e.From == "" || taken.from == e.From) && taken.to == e.To {
			times += n
		}
	}
	return times
}

// fired returns the number of declared edges that were taken.
func (r *Report) fired() (n int) {
	for _, e := range r.edges {
		if e.times > 0 {
			n++
		}
	}
	return n
}

// String returns the report on one line.
func (r *Report) String() string {
	return fmt.Sprintf("explored %s: %d states searched of %d met (%s, seed %d), %d steps, %d reconciles, %d edges fired, %d not, rest within %d reconciles, %d violations, %s, %.0f states/s",
		r.Subject, r.Expanded, r.States, r.extent(), r.seed, r.Steps, r.Passes, r.fired(), len(r.Unfired), r.Longest, len(r.Violations),
		r.Took.Round(time.Millisecond), float64(r.Expanded)/r.Took.Seconds())
}
