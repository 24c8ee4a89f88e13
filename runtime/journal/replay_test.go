package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/runtime/journal"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// The toy waits for a level.

type facts struct {
	Wanted int
	Level  transitions.Fact[int] `need:"level"`
	// Floor is restored by the build and is in no journal.
	Floor *int `json:"-"`
}

type (
	data       = struct{}
	effect     struct{}
	definition = machines.Definition[facts, data, effect]
)

func guard(f func(*facts) transitions.Verdict) transitions.Guard[facts, data] {
	return transitions.Guard[facts, data]{
		Name: "on-level", Doc: "the level is the wanted one", Expected: "the wanted level", Needs: []transitions.Need{"level"},
		Evaluate: func(at *facts, _ data) transitions.Verdict { return f(at) },
	}
}

func reached(f *facts) transitions.Verdict {
	level, known := f.Level.Get()
	if !known {
		return f.Level.Gap()
	}
	return transitions.If(level >= f.Wanted && level >= *f.Floor, fmt.Sprint("level ", level))
}

func toy() definition {
	onLevel := guard(reached)
	return definition{
		Name: "toy", Doc: "waits for a level",
		States: []machines.State[facts, data, effect]{
			{State: states.State{Name: "Settled", Kind: states.Rest, Doc: "there"}},
			{State: states.State{Name: "Waiting", Kind: states.Wait, Doc: "not there yet", Deadline: time.Minute, Poll: time.Second}, Invariant: transitions.Always[facts, data](), OnTargetChange: "Waiting"},
		},
		Transitions: []machines.Transition[facts, data]{
			{Event: "changed", From: "Settled", To: "Waiting", NewAttempt: true, When: transitions.Not(onLevel, "another level"), Doc: "another level is wanted"},
			{Event: "reached", From: "Waiting", To: "Settled", Awaited: true, When: onLevel, Doc: "the level is reached"},
		},
		Needs:  []machines.Need{{Name: "level", Doc: "asks for the level"}},
		Target: func(f *facts) machines.Target { return machines.Target{To: fmt.Sprint(f.Wanted)} },
		Infer: machines.Inference[facts, data]{States: []string{"Settled"}, Find: func(*facts) (machines.InferredState[data], transitions.Verdict) {
			return machines.InferredState[data]{State: "Settled"}, transitions.Allow()
		}},
	}
}

// releases gives the toy a deletion.
func releases(d *definition) {
	always := transitions.Always[facts, data]()
	d.States = append(d.States,
		machines.State[facts, data, effect]{
			State:     states.State{Name: "Draining", Kind: states.Work, Doc: "runs dry", Deadline: time.Minute, Poll: time.Second},
			Invariant: always, Action: &machines.Action[facts, data, effect]{Name: "drain", Doc: "drains", Effects: func(*facts, data) []effect { return nil }},
		},
		machines.State[facts, data, effect]{State: states.State{Name: "Gone", Kind: states.Rest, Doc: "nothing is left"}})
	d.States[1].Kind = states.Work
	d.States[1].Action = &machines.Action[facts, data, effect]{Name: "fill", Doc: "fills", NeedsFinalizer: true, Effects: func(*facts, data) []effect { return nil }}
	d.Transitions = append(d.Transitions, machines.Transition[facts, data]{Event: "drained", From: "Draining", To: "Gone", Awaited: true, When: always, Doc: "it is dry"})
	d.Deletion = machines.Deletion{To: "Draining", End: "Gone"}
}

// fills gives the toy an action that is not carried out on the wanted level.
func fills(d *definition) {
	d.States[1].Kind = states.Work
	d.States[1].Action = &machines.Action[facts, data, effect]{
		Name: "fill", Doc: "fills", Effects: func(*facts, data) []effect { return []effect{{}} },
		Precondition: transitions.Not(guard(reached), "another level"), OnPreconditionFailed: "Waiting",
	}
}

func build(t *testing.T, change func(*definition)) journal.Machine {
	t.Helper()
	def := toy()
	change(&def)
	machine, err := machines.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	floor := 0
	return journal.Of(machine, func(f *facts) { f.Floor = &floor })
}

var at = time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)

// noted returns a line as the writer writes it.
func noted(t *testing.T, state string, f any, edge *journal.Edge, change func(*journal.Line)) string {
	t.Helper()
	line := journal.Line{At: at, Kind: "Lamp", Namespace: "prod", Name: "hall", UID: "uid", Generation: 2, Lifecycle: "level", Machine: "toy@sha256:00000000", Edge: edge}
	if state != "" {
		started := at.Add(-time.Hour)
		line.Entry = &journal.Entry{State: state, EnteredAt: started, Attempt: &lifecyclev1.Attempt{ID: machines.AttemptID("uid", "level", "7", started), To: "7"}}
		line.Entry.Attempt.StartedAt.Time = started
	}
	if change != nil {
		change(&line)
	}
	var out bytes.Buffer
	journal.NewWriter(&out, func(err error) { t.Error(err) }).Note(line, f)
	return out.String()
}

func TestReplay(t *testing.T) {
	here, low := facts{Wanted: 7, Level: transitions.Known(7, at)}, facts{Wanted: 7, Level: transitions.Known(6, at)}
	silent := facts{Wanted: 7, Level: transitions.Unreadable[int](errors.New("connection refused"))}
	arrived := &journal.Edge{Event: "reached", To: "Settled"}
	unchanged := func(*definition) {}
	lenient := func(d *definition) {
		d.Transitions[1].When = guard(func(f *facts) transitions.Verdict { return transitions.If(f.Wanted > 5, "low") })
		d.Transitions[0].When = transitions.Not(d.Transitions[1].When, "another level")
	}
	failed := &journal.Edge{Event: "precondition-failed", To: "Waiting"}
	requested, deleting := &journal.Edge{Event: "deletion-requested", To: "Draining"}, func(l *journal.Line) { l.Deleting = true }
	cases := map[string]struct {
		line    string
		changed func(*definition)
		same    int
		// differs is then, now and why; skipped the reason.
		differs []string
		skipped string
		shape   []string
	}{
		"the edge of before":              {line: noted(t, "Waiting", here, arrived, nil), changed: unchanged, same: 1},
		"it stayed and stays":             {line: noted(t, "Waiting", low, nil, nil), changed: unchanged, same: 1},
		"what was unreadable is":          {line: noted(t, "Waiting", silent, nil, nil), changed: unchanged, same: 1},
		"what was pending is":             {line: noted(t, "Waiting", facts{Wanted: 7, Level: transitions.Pending[int]()}, nil, nil), changed: unchanged, same: 1},
		"no persisted state":              {line: noted(t, "", here, &journal.Edge{Event: "inferred", To: "Settled"}, nil), changed: unchanged, same: 1},
		"a changed target":                {line: noted(t, "Waiting", facts{Wanted: 8, Level: transitions.Known(8, at)}, &journal.Edge{Event: "target-changed", To: "Waiting"}, nil), changed: unchanged, same: 1},
		"another machine's digest, alike": {line: noted(t, "Waiting", here, arrived, func(l *journal.Line) { l.Machine = "toy@sha256:ffffffff" }), changed: unchanged, same: 1},

		"an edge that is taken now":            {line: noted(t, "Waiting", low, nil, nil), changed: lenient, differs: []string{"stays", "reached to Settled", "reached: on-level says yes"}},
		"an edge that is taken although blind": {line: noted(t, "Waiting", silent, nil, nil), changed: lenient, differs: []string{"stays", "reached to Settled", "reached: on-level says yes"}},
		"an edge that is not taken any more": {
			line: noted(t, "Waiting", low, arrived, nil), changed: unchanged,
			differs: []string{"reached to Settled", "stays", "reached: on-level says no (level 6)"},
		},
		"an edge of another name": {
			line:    noted(t, "Waiting", here, arrived, nil),
			changed: func(d *definition) { d.Transitions[1].Event = "arrived" },
			differs: []string{"reached to Settled", "arrived to Settled", "arrived: on-level says yes", "reached is not declared any more"},
		},
		"an edge to elsewhere": {
			line: noted(t, "Waiting", here, &journal.Edge{Event: "reached", To: "Soaking"}, nil), changed: unchanged,
			differs: []string{"reached to Soaking", "reached to Settled", "reached: on-level says yes"},
		},

		"a line that was cut off": {line: `{"v":1,"at":"2026-11`, changed: unchanged, skipped: "it is no line of a journal, or was cut off"},
		"another format":          {line: `{"v":2}`, changed: unchanged, skipped: "another format of journal: 2, this build reads 1"},
		"an unknown machine": {
			line: noted(t, "Waiting", here, arrived, func(l *journal.Line) { l.Machine = "lamp@sha256:1" }), changed: unchanged,
			skipped: `this build has no such machine: "lamp"`,
		},
		"an unknown state": {
			line: noted(t, "Glowing", here, nil, nil), changed: unchanged,
			skipped: `toy: this build has no state "Glowing" and no migration from it: the state would be inferred again`,
		},
		"a state that was migrated": {
			line: noted(t, "Glowing", here, nil, nil), changed: func(d *definition) { d.Migrations = map[string]string{"Glowing": "Waiting"} },
			differs: []string{"stays", "migrated to Waiting"},
		},

		"a deletion": {
			line: noted(t, "Waiting", here, requested, deleting), changed: releases, same: 1,
		},
		"a deletion in a state that is unknown": {
			line: noted(t, "Glowing", here, requested, deleting), changed: releases, same: 1,
		},
		"a deletion without a state": {
			line: noted(t, "", here, nil, deleting), changed: releases, differs: []string{"stays", "deletion-requested to Draining", "the object is being deleted"},
		},
		"a deletion that led elsewhere": {
			line: noted(t, "Waiting", here, &journal.Edge{Event: "deletion-requested", To: "Leaving"}, deleting), changed: releases,
			differs: []string{"deletion-requested to Leaving", "deletion-requested to Draining"},
		},
		"a deletion that releases nothing any more": {
			line: noted(t, "Waiting", here, requested, deleting), changed: unchanged,
			differs: []string{"deletion-requested to Draining", "stays", "deletion-requested is not declared any more"},
		},

		"a precondition that failed on live facts, on which an exit is due": {line: noted(t, "Waiting", here, failed, nil), changed: fills, same: 1},
		"a precondition that does not fail any more": {
			line: noted(t, "Waiting", low, failed, nil), changed: fills,
			differs: []string{"precondition-failed to Waiting", "stays", "Precondition of Waiting: not(on-level) says yes"},
		},
		"an action that there is no more": {
			line: noted(t, "Waiting", here, failed, nil), changed: unchanged, differs: []string{"precondition-failed to Waiting", "reached to Settled", "reached: on-level says yes"},
		},

		"facts that were not asked for": {
			line: noted(t, "Waiting", facts{Wanted: 7}, nil, nil), changed: unchanged, skipped: "toy: this build asks for a fact that was not observed: machine toy, guard of reached from Waiting: a fact of type int",
		},
		"facts of another type": {
			line: noted(t, "Waiting", map[string]string{"Wanted": "seven"}, nil, nil), changed: unchanged, skipped: "toy: the facts are not this build's",
		},
		"facts of another shape": {
			line: noted(t, "Waiting", map[string]any{"Level": here.Level, "Wish": 7}, nil, nil), changed: unchanged,
			differs: []string{"stays", "target-changed to Waiting", `the target is "0"`}, shape: []string{"toy: Wanted is new", "toy: Wish is gone"},
		},
		"facts that are too large": {
			line: noted(t, "Waiting", map[string]string{"Level": strings.Repeat("x", journal.MaxLine)}, nil, nil), changed: unchanged,
			skipped: "toy: the line holds no facts: the facts take 262156 bytes, and a line 262144 at most",
		},
		"facts that cannot be coded": {
			line: noted(t, "Waiting", map[string]any{"Level": func() {}}, nil, nil), changed: unchanged, skipped: "toy: the line holds no facts: the facts cannot be coded",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			report, err := journal.Replay(strings.NewReader(tc.line), build(t, tc.changed))
			if err != nil {
				t.Fatal(err)
			}
			if report.Lines != 1 || report.Same != tc.same {
				t.Errorf("%d lines, %d as before, want %d", report.Lines, report.Same, tc.same)
			}
			var differs []string
			for _, d := range report.Differences {
				differs = append([]string{d.Then.String(), d.Now.String()}, d.Why...)
			}
			if diff := cmp.Diff(tc.differs, differs); diff != "" {
				t.Errorf("difference (-want +got):\n%s", diff)
			}
			if got := fmt.Sprint(report.Skipped); !strings.Contains(got, tc.skipped) || tc.skipped == "" && len(report.Skipped) > 0 {
				t.Errorf("skipped %s, want %q", got, tc.skipped)
			}
			if diff := cmp.Diff(append([]string{}, tc.shape...), report.Reshaped); diff != "" {
				t.Errorf("shape (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReportString(t *testing.T) {
	low := facts{Wanted: 7, Level: transitions.Known(6, at)}
	arrived := &journal.Edge{Event: "reached", To: "Settled"}
	later := func(l *journal.Line) { l.At = at.Add(time.Hour) }
	lines := strings.Join([]string{
		noted(t, "Waiting", low, nil, nil), "not a line\n", noted(t, "Waiting", low, arrived, nil), "\n", noted(t, "Waiting", low, arrived, later), "neither",
	}, "")
	report, err := journal.Replay(strings.NewReader(lines), build(t, func(*definition) {}))
	if err != nil {
		t.Fatal(err)
	}
	want := `5 lines of 1 objects, 2026-11-20T08:00:00Z to 2026-11-20T09:00:00Z
       1 decided as before
       2 decided otherwise
       2 not replayed

Lamp prod/hall, lifecycle level, in Waiting: 2 of the lines, first at 2026-11-20T08:00:00Z
  then: reached to Settled
  now:  stays
  why:  reached: on-level says no (level 6)

not replayed, 2 from line 2 on: it is no line of a journal, or was cut off
`
	if diff := cmp.Diff(want, report.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text, err := json.Marshal(report)
	if err != nil || !strings.Contains(string(text), `"then":{"event":"reached","to":"Settled"},"now":null,"why":["reached: on-level says no (level 6)"]`) {
		t.Errorf("%v: %s", err, text)
	}
}
