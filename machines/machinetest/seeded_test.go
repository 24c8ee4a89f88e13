package machinetest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/transitions"
)

// indices into the toy's declaration.
const (
	waiting = 1
	pumping = 2
)

const (
	wanted = iota
	forbidden
	chosen
	overtaken
	filled
)

func without(names ...string) []row {
	return slices.DeleteFunc(table(), func(r row) bool { return slices.Contains(names, r.Name) })
}

func plus(rows ...row) []row { return append(table(), rows...) }

// also returns the table with one row changed.
func also(name string, change func(*row)) []row {
	rows := table()
	for i := range rows {
		if rows[i].Name == name {
			change(&rows[i])
		}
	}
	return rows
}

// hole is a defect of a table or a machine, with the messages that it causes.
type hole struct {
	machine func(*definition)
	rows    []row // nil: the good table
	// problems and failures are parts of all messages that are expected. Failures are by row.
	problems []string
	failures map[string]string
	coverage string // if not full
}

var tableHoles = map[string]hole{
	"an edge that no row takes": {
		rows: without("rain fills the basin"), coverage: "13/14 edges, 19/19 guard answers (96 %)",
		problems: []string{"no row takes edge overtaken from Waiting: add a row in state Waiting where full says yes and no edge before it does"},
	},
	"an edge that no row takes although one could": {
		rows: without("another level is wanted"), coverage: "13/14 edges, 19/19 guard answers (96 %)",
		problems: []string{`no row takes edge wanted from Off: add a row in state Off where not(full) says yes and no edge before it does; the facts of row "a ban refuses" in state Off would do, where wanted to Waiting follows: {Wanted:"3 m" Pumps:["east" "west"] Power:true grid:{Stable:true}}`},
	},
	"a changed target that no row has": {
		rows: without("another target stops the pump"), coverage: "13/14 edges, 19/19 guard answers (96 %)",
		problems: []string{"no row takes edge target-changed from Pumping: add a row in state Pumping with an Attempt towards another target"},
	},
	"failed preconditions that no row has": {
		rows: without("a ban fails the precondition", "a power cut fails the precondition"), coverage: "13/14 edges, 16/19 guard answers (87 %)",
		problems: []string{
			`no row takes edge precondition-failed from Pumping: add a row in state Pumping where Invariant says yes, no edge is taken and all(allowed, powered) says no; the facts of row "a ban refuses" in state Pumping with data map[pump:east] would do`,
			"there is no row in which Precondition of Pumping says no",
			"there is no row in which it matters that guard powered says no",
			"guard allowed in Precondition of Pumping could always say yes, and no row would notice",
		},
	},
	"a migration that no row has": {
		rows: without("a state of an earlier release"), coverage: "13/14 edges, 19/19 guard answers (96 %)",
		problems: []string{"no row takes edge migrated from Filling: add a row in state Filling"},
	},
	"a place that no row infers": {
		rows: without("no persisted state, and the basin is full"), coverage: "13/14 edges, 19/19 guard answers (96 %)",
		problems: []string{`no row takes edge inferred to Off: add a row without a State, or in one that its Invariant denies, whose facts are those of Off; the facts of row "nothing to do" in state (none) would do`},
	},
	"facts that cannot be read, which no row infers": {
		rows: without("no persisted state, and nothing can be read"), coverage: "13/14 edges, 19/19 guard answers (96 %)",
		problems: []string{"no row takes edge inferred to Inferring: add a row without a State where Infer cannot read the facts"},
	},
	"a leaf within an Any that no row hangs on": {
		rows: without("a sealed basin is full without power"), coverage: "14/14 edges, 18/19 guard answers (96 %)",
		problems: []string{"there is no row in which it matters that guard sealed says yes: add a row in state Pumping in which sealed says yes and filled from Pumping hangs on it"},
	},
	"a leaf within an All that could be forgotten": {
		rows: without("a ban fails the precondition"), coverage: "14/14 edges, 18/19 guard answers (96 %)",
		problems: []string{`guard allowed in Precondition of Pumping could always say yes, and no row would notice: add a row in state Pumping where Precondition of Pumping hangs on allowed alone; the facts of row "a ban refuses" in state Pumping with data map[pump:east] would do, where precondition-failed to Waiting follows`},
	},
	"a guard that could be forgotten": {
		rows: without("the ban stays"), coverage: "13/14 edges, 19/19 guard answers (96 %)",
		problems: []string{"guard allowed in opened from Refused could always say yes, and no row would notice"},
	},
	"a costly guard that is never unknown": {
		rows: without("a grid that cannot be read blocks"), coverage: "14/14 edges, 18/19 guard answers (96 %)",
		problems: []string{"there is no row in which guard pump-free says unknown: add a row in state Waiting in which pump-free cannot be answered, because a fact is transitions.Unreadable: grid (facts.grid.Stable) and chosen from Waiting hangs on it"},
	},
	"an Invariant that never says no": {
		rows: without("the pump is gone"), coverage: "14/14 edges, 16/19 guard answers (90 %)",
		problems: []string{
			"there is no row in which Invariant of Pumping says no: add a row in state Pumping in which pump-selected says no",
			"there is no row in which it matters that guard pump-selected says no",
			"guard pump-selected in Invariant of Pumping could always say yes",
		},
	},
	"a Precondition that is never unknown, nor yes": {
		rows: without("a meter that cannot be read blocks", "the pump runs"), coverage: "13/14 edges, 15/19 guard answers (84 %)",
		problems: []string{
			"there is no row in which Precondition of Pumping says yes", "there is no row in which Precondition of Pumping says unknown",
			"there is no row in which guard powered says unknown", "there is no row in which it matters that guard sealed says no",
			"guard powered in filled from Pumping could always say yes", "guard sealed in filled from Pumping could always say yes",
		},
	},
	"edges whose order could change": {
		rows: without("a free pump is taken before the basin is looked at", "a grid that cannot be read blocks"), coverage: "12/14 edges, 18/19 guard answers (90 %)",
		problems: []string{
			"there is no row in which guard pump-free says unknown",
			`edges chosen and overtaken of Waiting could change places, and no row would notice: the facts of row "nothing to do" in state Waiting would do, where chosen to Pumping follows`,
		},
	},
	"edges of which the first could block the second": {
		machine: func(d *definition) {
			d.Transitions[overtaken].When = transitions.All(full, transitions.Not(sealed, "open"))
		},
		rows: append(without("a free pump is taken before the basin is looked at", "a grid that cannot be read blocks", "the basin is full", "nothing to do", "no persisted state, and the basin is full"),
			row{Name: "full, sealed and dark", State: "Waiting", Facts: sound(isFull, isSealed, isUngridded), Want: want{WaitingFor: []string{"pump-free"}}},
			row{Name: "at rest, and dark", State: "Off", Facts: sound(isFull, isUngridded)},
			row{Name: "no persisted state, full and dark", Facts: sound(isFull, isUngridded), Want: want{Event: "inferred", To: "Off"}},
			row{Name: "the basin is full, and dark", State: "Pumping", Data: east, Facts: sound(isFull, isUngridded), Want: want{Event: "filled", To: "Off"}},
		), coverage: "12/14 edges, 19/19 guard answers (93 %)",
		problems: []string{
			`edges chosen and overtaken of Waiting could change places, and no row would notice: the facts of row "at rest, and dark" in state Waiting would do, where staying follows`,
		},
	},
	"two rows with one name": {
		rows:     plus(row{Name: "nothing to do", State: "Off", Facts: sound(isFull)}),
		problems: []string{`two rows are named "nothing to do"`},
	},
}

func TestExamineFindsHolesOfATable(t *testing.T) { findHoles(t, tableHoles) }

func findHoles(t *testing.T, holes map[string]hole) {
	for name, tc := range holes {
		t.Run(name, func(t *testing.T) {
			rows := tc.rows
			if rows == nil {
				rows = table()
			}
			report := machinetest.Examine(compiled(t, tc.machine), rows)
			for _, problem := range report.Problems {
				if !slices.ContainsFunc(tc.problems, func(part string) bool { return strings.Contains(problem, part) }) {
					t.Errorf("unexpected: %s", problem)
				}
			}
			for _, part := range tc.problems {
				if !slices.ContainsFunc(report.Problems, func(problem string) bool { return strings.Contains(problem, part) }) {
					t.Errorf("missing: %s", part)
				}
			}
			for row, texts := range report.Rows {
				if part := tc.failures[row]; part == "" || !strings.Contains(strings.Join(texts, "\n"), part) {
					t.Errorf("row %q failed: %v", row, texts)
				}
			}
			for row := range tc.failures {
				if report.Rows[row] == nil {
					t.Errorf("row %q holds", row)
				}
			}
			if want := "transition coverage: fill-basin " + tc.coverage; tc.coverage != "" && report.String() != want {
				t.Errorf("coverage %q, want %q", report, want)
			}
			if !report.Failed() {
				t.Error("the table passes")
			}
		})
	}
}

var machineHoles = map[string]hole{
	"an edge that is missing": {
		machine: func(d *definition) {
			d.Transitions = slices.Delete(d.Transitions, forbidden, forbidden+1)
			d.States = d.States[:3]
			d.Transitions = d.Transitions[:4]
		},
		rows:     []row{{Name: "a ban refuses", State: "Waiting", Facts: sound(isBanned), Want: want{Event: "forbidden", To: "Refused"}}},
		failures: map[string]string{"a ban refuses": `"chosen"`},
	},
	"two edges that changed places": {
		machine: func(d *definition) {
			d.Transitions[chosen], d.Transitions[overtaken] = d.Transitions[overtaken], d.Transitions[chosen]
		},
		failures: map[string]string{
			"a free pump is taken before the basin is looked at": `"overtaken"`, "a grid that cannot be read blocks": `"overtaken"`,
		},
	},
	"a guard that answers the opposite": {
		machine:  func(d *definition) { d.Transitions[overtaken].When = transitions.Not(full, "room") },
		failures: map[string]string{"rain fills the basin": `-`, "no pump is free": `"overtaken"`},
	},
	"a condition that was forgotten": {
		machine:  func(d *definition) { d.States[pumping].Action.Precondition = powered },
		failures: map[string]string{"a ban fails the precondition": `"precondition-failed"`},
	},
	"an edge that keeps data it should forget": {
		machine:  func(d *definition) { d.Transitions[filled].ClearData = false },
		failures: map[string]string{"the basin is full": `"east"`, "a sealed basin is full without power": `"east"`},
	},
	"a guard that reads what it does not declare, but another guard of its state does": {
		machine: func(d *definition) {
			g := full
			g.Evaluate = func(f *facts, m data) transitions.Verdict {
				f.Power.Get()
				return full.Evaluate(f, m)
			}
			d.Transitions[filled].When = transitions.All(g, transitions.Any(powered, sealed))
		},
		problems: []string{`guard full in filled from Pumping reads facts.Power (need "power") without declaring it: add it to its Needs (row "the pump runs")`},
	},
	"a guard that reads what is not declared in the state": {
		machine: func(d *definition) {
			g := full
			g.Name, g.Evaluate = "full-by-meter", func(f *facts, m data) transitions.Verdict {
				f.Power.Get()
				return full.Evaluate(f, m)
			}
			d.Transitions[wanted].When = transitions.Not(g, "another level")
		},
		problems: []string{`guard full-by-meter in wanted from Off reads facts.Power (need "power") without declaring it`},
		failures: map[string]string{
			"nothing to do":           "guard of wanted from Off: a fact of type bool was read without its need being declared",
			"another level is wanted": "guard of wanted from Off",
		},
	},
	"a Target, an Infer, a Progress and an action that read what they do not declare": {
		machine: func(d *definition) {
			of, find, do := d.Target, d.Infer.Find, d.States[pumping].Action.Effects
			d.Target = func(f *facts) machines.Target { f.Power.Get(); return of(f) }
			d.TargetNeeds = []transitions.Need{"grid"}
			d.Infer.Find = func(f *facts) (machines.InferredState[data], transitions.Verdict) {
				f.grid.Stable.Get()
				return find(f)
			}
			d.Progress.Of = func(f *facts, _ data) machines.Count { f.grid.Stable.Get(); return machines.Count{} }
			d.States[pumping].Action.Effects = func(f *facts, m data) []effect { f.grid.Stable.Get(); return do(f, m) }
		},
		rows: []row{
			{Name: "the pump runs", State: "Pumping", Data: east, Facts: sound(), Want: want{WaitingFor: []string{"full"}, Effects: []effect{{"pump", "east"}}}},
		},
		problems: []string{
			`Target reads facts.Power (need "power") without declaring it`, `Infer reads facts.grid.Stable (need "grid") without declaring it`,
			`Progress reads facts.grid.Stable (need "grid")`, `action pump of Pumping reads facts.grid.Stable (need "grid")`,
			"no row ", "there is no row",
		},
	},
	"an Invariant that denies where an exit says yes": {
		machine: func(d *definition) {
			d.States[pumping].Invariant = transitions.All(isSelected, transitions.Not(full, "room in the basin"))
		},
		problems: []string{"Invariant of Pumping says no where its exit filled from Pumping says yes, in row \"the basin is full\": the exit is never taken there"},
		failures: map[string]string{"the basin is full": `"inferred"`, "a sealed basin is full without power": `"inferred"`},
	},
	"a place that its own Invariant denies": {
		machine: func(d *definition) { d.States[waiting].Invariant = allowed },
		problems: []string{
			`Infer finds Waiting with data {pump:} in the facts of row "a ban refuses", but Invariant of Waiting says no there (not allowed): the state would be inferred again in every reconcile`,
			"Invariant of Waiting says no (not allowed) where its exit forbidden from Waiting says yes",
			"Invariant of Waiting says no (not allowed) where its exit chosen from Waiting says yes",
		},
		failures: map[string]string{
			"a ban refuses": `"inferred"`, "a ban refuses even on a grid that cannot be read": `"inferred"`,
		},
	},
	"data that does not come back": {
		machine: func(d *definition) {
			d.Data.Encode = func(data) map[string]string { return map[string]string{"pump": "any"} }
		},
		failures: dataFailures("differs after encoding and decoding"),
		problems: []string{"Invariant of Pumping says no (not pump-selected) where its exit filled"},
	},
	"data that the status cannot hold": {
		machine: func(d *definition) {
			d.Data.Encode = func(m data) map[string]string { return map[string]string{"pump": m.pump, strings.Repeat("k", 65): "x"} }
		},
		failures: dataFailures("is longer than 64 characters"),
	},
	"data that cannot be decoded from nothing": {
		machine: func(d *definition) {
			d.Data.Decode = func(coded map[string]string) (data, error) {
				if coded["pump"] == "" {
					return data{}, errors.New("no pump")
				}
				return data{coded["pump"]}, nil
			}
		},
		rows:     []row{{Name: "a state of an earlier release", State: "Filling", Data: east, Facts: sound(), Want: want{Event: "migrated", To: "Waiting", Data: east}}},
		problems: []string{"Decode fails on a nil map, which most transitions commit: no pump", "no row ", "there is no row"},
	},
	"an action that is no pure function": {
		machine: func(d *definition) {
			n := 0
			d.States[pumping].Action.Effects = func(*facts, data) []effect {
				n++
				return []effect{{"pump", strings.Repeat("east", n)}}
			}
		},
		rows:     []row{{Name: "the pump runs", State: "Pumping", Data: east, Facts: sound(), Want: want{WaitingFor: []string{"full"}, Effects: []effect{{"pump", "east"}}}}},
		failures: map[string]string{"the pump runs": "evaluated twice, the machine answers"},
	},
}

// dataFailures are the failures of the table's rows with data.
func dataFailures(text string) map[string]string {
	out := map[string]string{}
	for _, r := range table() {
		if r.Data != nil || r.Want.Data != nil {
			out[r.Name] = text
		}
	}
	return out
}

func TestExamineFindsDefectsOfAMachine(t *testing.T) { findHoles(t, machineHoles) }

var rowHoles = map[string]hole{
	"another edge":                {rows: also("a ban refuses", func(r *row) { r.Want.Event = "chosen" }), failures: map[string]string{"a ban refuses": "in state Waiting (-want +got)"}},
	"another state":               {rows: also("a ban refuses", func(r *row) { r.Want.To = "Off" }), failures: map[string]string{"a ban refuses": `"Refused"`}},
	"an edge where none is taken": {rows: also("nothing to do", func(r *row) { r.Want.Event = "wanted" }), failures: map[string]string{"nothing to do": `"wanted"`}},
	"another data":                {rows: also("the first free pump is taken", func(r *row) { r.Want.Data = &data{"west"} }), failures: map[string]string{"the first free pump is taken": `"west"`}},
	"no data where there is one":  {rows: also("the first free pump is taken", func(r *row) { r.Want.Data = nil }), failures: map[string]string{"the first free pump is taken": `"east"`}},
	"another guard waited for":    {rows: also("no pump is free", func(r *row) { r.Want.WaitingFor = []string{"full"} }), failures: map[string]string{"no pump is free": `"pump-free"`}},
	"no guard waited for":         {rows: also("no pump is free", func(r *row) { r.Want.WaitingFor = nil }), failures: map[string]string{"no pump is free": `"pump-free"`}},
	"another guard waited for after the edge": {
		rows: also("the first free pump is taken", func(r *row) { r.Want.WaitingFor = []string{"sealed"} }), failures: map[string]string{"the first free pump is taken": `"sealed"`},
	},
	"another effect":                   {rows: also("the pump runs", func(r *row) { r.Want.Effects[0].pump = "west" }), failures: map[string]string{"the pump runs": `"west"`}},
	"an effect that is not expected":   {rows: also("the pump runs", func(r *row) { r.Want.Effects = nil }), failures: map[string]string{"the pump runs": `"east"`}},
	"blocked by another guard":         {rows: also("a meter that cannot be read blocks", func(r *row) { r.Want.Blocked = []string{"allowed"} }), failures: map[string]string{"a meter that cannot be read blocks": `"powered"`}},
	"a fact that was left out":         {rows: also("no pump is free", func(r *row) { r.Facts.grid.Stable = transitions.Fact[bool]{} }), failures: map[string]string{"no pump is free": "guard of chosen from Waiting: a fact of type bool was read"}},
	"the wrong reason to stay, silent": {rows: plus(row{Name: "first answers", Facts: sound(func(f *facts) { f.Power = transitions.Pending[bool]() }), Want: want{Event: "inferred", To: "Off"}}), failures: map[string]string{"first answers": `"inferred"`}},
}

func TestExamineFindsRowsThatFail(t *testing.T) { findHoles(t, rowHoles) }

func TestExamineComputesNoCoverageWhileRowsFail(t *testing.T) {
	report := machinetest.Examine(compiled(t, nil), also("a ban refuses", func(r *row) { r.Want.To = "Off" }))
	if len(report.Problems) > 0 || report.Edges != 0 {
		t.Errorf("judged %v: %v", report, report.Problems)
	}
}

func TestExamineAcceptsAGoodTable(t *testing.T) {
	report := machinetest.Examine(compiled(t, nil), table())
	want := &machinetest.Report{Machine: "fill-basin", Edges: 14, AllEdges: 14, Answers: 19, AllAnswers: 19, Rows: map[string][]string{}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if report.Failed() {
		t.Error("and yet it failed")
	}
}
