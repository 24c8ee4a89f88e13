package machinetest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// examination is the comparison of a table with a machine.
type examination[F, D, E any] struct {
	machine *machines.Machine[F, D, E]
	def     machines.Definition[F, D, E]
	sites   []site[F, D, E]
	shape   *shape
	// strict leaves out facts whose need was not declared; quick has all facts of a row.
	strict, quick driven[F, E]
	trials        []trial[F, D, E]
	items         *items
	report        *Report
	// reported are the problems that were reported already, by what they concern.
	reported map[string]bool
}

// trial is a row with its persisted state and outcome.
type trial[F, D, E any] struct {
	row   *Row[F, D, E]
	entry *lifecyclev1.Lifecycle
	// target that the row's facts contain.
	target string
	data   D
	// readable means that the state is known and its data can be decoded, so that its guards are evaluated.
	readable bool
	out      outcome[E]
}

// asked reports whether the edges of the row's state were evaluated: its invariant held and its target was unchanged.
func (t *trial[F, D, E]) asked() bool {
	return t.readable && t.out.err == nil && !slices.Contains([]string{machines.EventInferred, machines.EventTargetChanged, machines.EventDeletionRequested}, t.out.event)
}

// Report is the result of examining a table.
type Report struct {
	// Machine that was examined.
	Machine string
	// Edges and Answers are the numbers that rows cover, of AllEdges and AllAnswers. An item is covered if a row fails when it
	// is wrong.
	Edges, AllEdges, Answers, AllAnswers int
	// Rows are the failures of single rows, by name.
	Rows map[string][]string
	// Problems of the table as a whole, and of the machine by its laws.
	Problems []string
}

// Failed reports whether a row failed or a problem was found.
func (r *Report) Failed() bool { return len(r.Rows) > 0 || len(r.Problems) > 0 }

// String returns the coverage on one line. It is 100 % only if all is covered.
func (r *Report) String() string {
	percent := 100
	if all := r.AllEdges + r.AllAnswers; all > 0 {
		percent = 100 * (r.Edges + r.Answers) / all
	}
	return fmt.Sprintf("transition coverage: %s %d/%d edges, %d/%d guard answers (%d %%)",
		r.Machine, r.Edges, r.AllEdges, r.Answers, r.AllAnswers, percent)
}

// Examine compares the table with the machine, without a test.
//
// Coverage is computed only if every row holds, because failing rows prove nothing.
func Examine[F, D, E any](machine *machines.Machine[F, D, E], rows []Row[F, D, E]) *Report {
	x := &examination[F, D, E]{
		machine: machine, def: machine.Definition(), shape: shapeOf(reflect.TypeFor[F]()),
		report:   &Report{Machine: machine.Graph().Name, Rows: map[string][]string{}},
		reported: map[string]bool{},
	}
	x.sites = sitesOf(&x.def)
	x.strict, x.quick = drive(machine, x.shape), drive(machine, nil)
	x.items = x.owed()
	x.checkShape()
	x.prepare(rows)
	x.checkRows()
	x.checkReads()
	x.checkLaws()
	if len(x.report.Rows) == 0 {
		x.cover()
	}
	x.report.Edges, x.report.AllEdges = x.items.count(true)
	x.report.Answers, x.report.AllAnswers = x.items.count(false)
	return x.report
}

func (x *examination[F, D, E]) problem(text string, args ...any) {
	x.report.Problems = append(x.report.Problems, fmt.Sprintf(text, args...))
}

// problemOnce reports a problem once, although many rows may show it.
func (x *examination[F, D, E]) problemOnce(about, text string, args ...any) {
	if !x.reported[about] {
		x.reported[about] = true
		x.problem(text, args...)
	}
}

func (x *examination[F, D, E]) prepare(rows []Row[F, D, E]) {
	seen := map[string]bool{}
	x.trials = make([]trial[F, D, E], len(rows))
	for i := range rows {
		t := &x.trials[i]
		t.row = &rows[i]
		if seen[t.row.Name] {
			x.problem("two rows are named %q: give each its own name", t.row.Name)
		}
		seen[t.row.Name] = true
		if err := x.ready(t); err != nil {
			x.failed(t.row, "preparing the row: %v", err)
		}
	}
}

// ready encodes the row's data and computes its outcome.
func (x *examination[F, D, E]) ready(t *trial[F, D, E]) error {
	coded := t.row.Coded
	if coded == nil && t.row.Data != nil {
		if err := safely(func() { coded = x.def.Data.Encode(*t.row.Data) }); err != nil {
			return fmt.Errorf("encoding the data: %w", err)
		}
	}
	var target machines.Target
	_ = safely(func() { target = x.def.Target(&t.row.Facts) }) // a panic is part of the row's outcome
	t.target = target.To
	if t.row.Attempt == machines.DeletionTarget {
		t.target = machines.DeletionTarget
	}
	t.entry = entryOf(t.row.State, coded, cmp.Or(t.row.Attempt, t.target))
	_, known := x.quick.State(t.row.State)
	data, err := x.def.Data.Decode(coded)
	t.data, t.readable = data, known && err == nil && t.row.State != machines.Inferring
	t.out = x.strict.follow(t.entry, &t.row.Facts)
	return nil
}

// owesInferring reports whether a table must show that the state cannot be inferred: only costly facts can be unreadable.
func (x *examination[F, D, E]) owesInferring() bool { return len(x.def.Infer.Needs) > 0 }

// owed returns what the table must cover.
func (x *examination[F, D, E]) owed() *items {
	all := newItems()
	for _, e := range x.machine.Graph().Edges {
		switch {
		case e.Class == machines.DeletionRequested: // the framework decides it, on no facts
		case e.Class != machines.Inferred:
			all.owe(edgeItem(e.Event, e.From), true)
		case e.To != machines.Inferring || x.owesInferring():
			all.owe(inferredItem(e.To), true)
		}
	}
	for i := range x.sites {
		s := &x.sites[i]
		if s.kind != edgeSite {
			x.oweAnswers(all, s.label, s.guard.AllNeeds())
		}
		for _, l := range s.leaves {
			if !l.Certain() {
				x.oweAnswers(all, guardLabel(l.Name), l.needs)
			}
		}
	}
	return all
}

func (x *examination[F, D, E]) oweAnswers(all *items, of string, needs []transitions.Need) {
	all.owe(answerItem(of, transitions.Yes), false)
	all.owe(answerItem(of, transitions.No), false)
	if len(needs) > 0 {
		all.owe(answerItem(of, transitions.Unknown), false)
	}
}
