package machines

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/transitions"
)

var errDown = errors.New("connection refused")

// moved is a Move as text.
type moved struct {
	Edge string // event from -> to
	Data map[string]string
	// Attempt is kept, new or none.
	Attempt string
}

func describe(entry *lifecyclev1.Lifecycle, move *Move) *moved {
	if move == nil {
		return nil
	}
	attempt := "new"
	switch {
	case move.Attempt == nil:
		attempt = "none"
	case entry != nil && entry.Attempt != nil && entry.Attempt.ID == move.Attempt.ID:
		attempt = "kept"
	}
	return &moved{Edge: move.Event + " " + move.From + " -> " + move.To, Data: move.Data, Attempt: attempt}
}

type decideCase struct {
	reason  string
	change  func(*toyDefinition)
	entry   *lifecyclev1.Lifecycle
	facts   toyFacts
	needs   []transitions.Need // in addition to those of the state
	want    *moved
	mayAct  bool
	decided bool
	silent  bool
	again   []transitions.Need
	err     string
}

func done() toyFacts {
	return with(half(), func(f *toyFacts) {
		f.Nodes = map[string]string{"a": "2", "b": "2"}
		f.Level = transitions.Known(2, now)
	})
}

func under(entry *lifecyclev1.Lifecycle, target string) *lifecyclev1.Lifecycle {
	entry.Attempt = attemptAt(target)
	return entry
}

// keepRefused lets the Hold keep its attempt until the path is allowed.
func keepRefused(d *toyDefinition) { d.States[refused].OnTargetChange = KeepAttempt }

func forbidden() toyFacts { return with(half(), func(f *toyFacts) { f.Allowed = false }) }

var decisions = map[string]decideCase{
	// No persisted state.
	"no entry, and the facts say where it stands": {
		facts: half(), want: &moved{Edge: "inferred  -> Checking", Attempt: "new"},
	},
	"no entry, and all is at rest": {
		reason: "a Rest state has no attempt of its own",
		facts:  done(), want: &moved{Edge: "inferred  -> Settled", Attempt: "none"},
	},
	"no entry, and the facts cannot be read": {
		facts: with(half(), func(f *toyFacts) { f.Level = transitions.Unreadable[int](errDown) }),
		want:  &moved{Edge: "inferred  -> Inferring", Attempt: "none"},
	},
	"no entry, and the first answers are pending": {
		facts:  with(half(), func(f *toyFacts) { f.Level = transitions.Pending[int]() }),
		silent: true,
	},
	"no entry, and nobody knows the target": {
		reason: "an attempt towards nothing would be another one as soon as the target is known",
		facts:  with(half(), func(f *toyFacts) { f.Wanted = "" }),
		want:   &moved{Edge: "inferred  -> Checking", Attempt: "none"},
	},

	// A persisted state that this binary does not know.
	"a state of an earlier release is migrated with its data and attempt": {
		entry: at("Verifying", map[string]string{"node": "b"}), facts: half(),
		want: &moved{Edge: "migrated Verifying -> Checking", Data: map[string]string{"node": "b"}, Attempt: "kept"},
	},
	"a state that nobody knows is inferred": {
		entry: at("Dancing", nil), facts: half(), want: &moved{Edge: "inferred Dancing -> Checking", Attempt: "kept"},
	},
	"a state that nobody knows while the facts cannot be read waits in Inferring under its attempt": {
		entry: at("Dancing", nil), facts: with(half(), func(f *toyFacts) { f.Level = transitions.Unreadable[int](errDown) }),
		want: &moved{Edge: "inferred Dancing -> Inferring", Attempt: "kept"},
	},
	"a state that nobody knows while answers are pending stays": {
		entry: at("Dancing", nil), facts: with(half(), func(f *toyFacts) { f.Level = transitions.Pending[int]() }),
	},

	// Inferring.
	"Inferring is left once the facts can be read": {
		entry: at(Inferring, nil), facts: half(), want: &moved{Edge: "inferred Inferring -> Checking", Attempt: "kept"},
	},
	"Inferring for another target begins an attempt": {
		entry: under(at(Inferring, nil), "1"), facts: half(), want: &moved{Edge: "inferred Inferring -> Checking", Attempt: "new"},
	},
	"Inferring stays while the facts cannot be read": {
		entry: at(Inferring, nil), facts: with(half(), func(f *toyFacts) { f.Level = transitions.Unreadable[int](errDown) }),
	},
	"Inferring stays while answers are pending": {
		entry: at(Inferring, nil), facts: with(half(), func(f *toyFacts) { f.Level = transitions.Pending[int]() }),
	},

	// A persisted state that the facts contradict.
	"data that cannot be decoded asks for what infers": {
		entry: at("Restarting", map[string]string{"pod": "b"}), facts: half(), again: []transitions.Need{"level"},
	},
	"data that cannot be decoded is inferred": {
		entry: at("Restarting", map[string]string{"pod": "b"}), facts: half(), needs: []transitions.Need{"level"},
		want: &moved{Edge: "inferred Restarting -> Checking", Attempt: "kept"},
	},
	"Invariant says no, and what infers was not asked for": {
		entry: at("Restarting", map[string]string{"node": "gone"}), facts: half(), again: []transitions.Need{"level"},
	},
	"Invariant says no": {
		entry: at("Restarting", map[string]string{"node": "gone"}), facts: half(), needs: []transitions.Need{"level"},
		want: &moved{Edge: "inferred Restarting -> Checking", Attempt: "kept"},
	},
	"Invariant says no, and the facts cannot be read": {
		entry: at("Restarting", map[string]string{"node": "gone"}), needs: []transitions.Need{"level"},
		facts: with(half(), func(f *toyFacts) { f.Level = transitions.Unreadable[int](errDown) }),
		want:  &moved{Edge: "inferred Restarting -> Inferring", Attempt: "kept"},
	},
	"Invariant says no, and answers are pending": {
		entry: at("Restarting", map[string]string{"node": "gone"}), needs: []transitions.Need{"level"},
		facts: with(half(), func(f *toyFacts) { f.Level = transitions.Pending[int]() }),
	},
	"Invariant says no, and Infer finds the same place again": {
		change: func(d *toyDefinition) { d.States[checking].Invariant = pathAllowed },
		entry:  at("Checking", nil), needs: []transitions.Need{"level"},
		facts: with(half(), func(f *toyFacts) { f.Allowed = false }),
		err:   "Infer finds Checking although its Invariant says no",
	},
	"the invariant is unknown: edges are evaluated, the action is not": {
		change: func(d *toyDefinition) { d.States[restarting].Invariant = transitions.All(isSelected, inSync) },
		entry:  at("Restarting", map[string]string{"node": "b"}),
		facts:  with(half(), func(f *toyFacts) { f.Sync = transitions.Unreadable[bool](errDown) }),
	},
	"Infer finds a state that it does not declare": {
		change: func(d *toyDefinition) { d.Infer.States = []string{"Settled"} },
		entry:  at("Dancing", nil), facts: half(), err: `Infer finds "Checking", which is not among its States`,
	},

	// The target.
	"a changed target leads to OnTargetChange and begins an attempt": {
		entry: under(at("Restarting", map[string]string{"node": "b"}), "1"), facts: half(),
		want: &moved{Edge: "target-changed Restarting -> Checking", Attempt: "new"},
	},
	"a changed target precedes the invariant": {
		entry: under(at("Restarting", map[string]string{"node": "gone"}), "1"), facts: half(),
		want: &moved{Edge: "target-changed Restarting -> Checking", Attempt: "new"},
	},
	"a changed target starts a state over": {
		entry: under(at("Checking", nil), "1"), facts: half(), want: &moved{Edge: "target-changed Checking -> Checking", Attempt: "new"},
	},
	"a changed target leads out of a Hold": {
		entry: under(at("Refused", nil), "1"), facts: half(), want: &moved{Edge: "target-changed Refused -> Checking", Attempt: "new"},
	},
	"a changed target that keeps its attempt keeps the attempt": {
		entry: under(at("Raising", nil), "1"), facts: done(), mayAct: true, decided: true,
		want: &moved{Edge: "raised Raising -> Settled", Attempt: "kept"},
	},
	"a Hold that keeps its attempt does not decide upon a changed target": {
		change: keepRefused, entry: under(at("Refused", nil), "1"), facts: forbidden(), mayAct: true,
	},
	"a Hold that keeps its attempt decides upon the target of the attempt": {
		change: keepRefused, entry: at("Refused", nil), facts: forbidden(), mayAct: true, decided: true,
	},
	"an unknown target changes nothing": {
		entry: at("Restarting", map[string]string{"node": "b"}), facts: with(half(), func(f *toyFacts) { f.Wanted = "" }), mayAct: true,
	},
	"an entry without an attempt gets one": {
		entry: &lifecyclev1.Lifecycle{Name: "version", State: "Checking"}, facts: half(),
		want: &moved{Edge: "target-changed Checking -> Checking", Attempt: "new"},
	},
	"rest is left by an edge that begins an attempt": {
		entry: under(at("Settled", nil), "1"), facts: half(), want: &moved{Edge: "version-changed Settled -> Checking", Attempt: "new"}, mayAct: true, decided: true,
	},
	"an attempt does not begin towards a target that nobody knows": {
		entry: at("Settled", nil), facts: with(half(), func(f *toyFacts) { f.Wanted = "" }), mayAct: true,
	},

	// Transitions.
	"at rest with nothing to do": {
		entry: at("Settled", nil), facts: done(), mayAct: true, decided: true,
	},
	"at rest a guard that does not know leaves the generation undecided": {
		change: func(d *toyDefinition) {
			d.Transitions[versionChanged].When = transitions.Not(inSync, "nodes out of sync")
		},
		entry: at("Settled", nil), facts: with(done(), func(f *toyFacts) { f.Sync = transitions.Unreadable[bool](errDown) }), mayAct: true,
	},
	"a choice picks the data": {
		entry: at("Checking", nil), facts: half(), mayAct: true, decided: true,
		want: &moved{Edge: "node-selected Checking -> Restarting", Data: map[string]string{"node": "b"}, Attempt: "kept"},
	},
	"of two edges that say yes the first declared is taken": {
		entry: at("Checking", nil), facts: with(half(), func(f *toyFacts) { f.Allowed = false }), mayAct: true, decided: true,
		want: &moved{Edge: "path-forbidden Checking -> Refused", Attempt: "kept"},
	},
	"an edge keeps the data unless it forgets": {
		change: func(d *toyDefinition) { d.Transitions[restartedRow].ClearData = false },
		entry:  at("Restarting", map[string]string{"node": "a"}), facts: half(), mayAct: true, decided: true,
		want: &moved{Edge: "restarted Restarting -> Checking", Data: map[string]string{"node": "a"}, Attempt: "kept"},
	},
	"an edge that forgets drops the data": {
		entry: at("Restarting", map[string]string{"node": "a"}), facts: half(), mayAct: true, decided: true,
		want: &moved{Edge: "restarted Restarting -> Checking", Attempt: "kept"},
	},
	"an unknown guard keeps the state, and its action runs on": {
		entry: at("Restarting", map[string]string{"node": "a"}), facts: with(half(), func(f *toyFacts) { f.Sync = transitions.Unreadable[bool](errDown) }),
		mayAct: true, decided: true,
	},
	"an unknown guard blocks the edges after it": {
		change: func(d *toyDefinition) {
			d.Transitions[pathForbidden].When, d.Transitions[pathForbidden].EvenIfUnknown = transitions.Not(inSync, "nodes out of sync"), false
		},
		entry: at("Checking", nil), facts: with(half(), func(f *toyFacts) { f.Sync = transitions.Unreadable[bool](errDown) }),
		mayAct: true, decided: true,
	},
	"an unknown guard does not block an edge that is asked even so": {
		change: func(d *toyDefinition) {
			d.Transitions[pathForbidden].When, d.Transitions[nodeSelected].EvenIfUnknown = transitions.Not(inSync, "nodes out of sync"), true
		},
		entry: at("Checking", nil), facts: with(half(), func(f *toyFacts) { f.Sync = transitions.Pending[bool]() }),
		mayAct: true, decided: true,
		want: &moved{Edge: "node-selected Checking -> Restarting", Data: map[string]string{"node": "b"}, Attempt: "kept"},
	},
}

func TestDecide(t *testing.T) {
	for name, tc := range decisions {
		t.Run(name, func(t *testing.T) {
			def := changed(tc.change)
			before := tc.entry.DeepCopy()
			got := evaluate(mustCompile(t, def), tc.entry, tc.facts, tc.needs...).Decide()
			if tc.err != "" {
				if got.Err == nil || !strings.Contains(got.Err.Error(), tc.err) {
					t.Fatalf("err = %v, want %q", got.Err, tc.err)
				}
				return
			}
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			if diff := cmp.Diff(tc.want, describe(tc.entry, got.Move), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: move (-want +got):\n%s", tc.reason, diff)
			}
			type rest struct {
				MayAct, Decided, Silent bool
				Again                   []transitions.Need
			}
			if diff := cmp.Diff(rest{tc.mayAct, tc.decided, tc.silent, tc.again}, rest{got.MayAct, got.Decided, got.Silent, got.Needs}); diff != "" {
				t.Errorf("%s: (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.entry); diff != "" {
				t.Errorf("deciding changed the entry:\n%s", diff)
			}
		})
	}
}

// reads is the Evaluate of a guard that reads an undeclared fact.
func reads(f *toyFacts) transitions.Verdict {
	_, known := f.Sync.Get()
	return transitions.If(known, "")
}

func TestDecideNamesTheReaderOfAnUndeclaredFact(t *testing.T) {
	sneaky := toyGuard{Name: "sneaky", Doc: "reads what it does not declare", Expected: "luck", Evaluate: func(f *toyFacts, _ toyData) transitions.Verdict { return reads(f) }}
	noSync := func(d *toyDefinition) { // no other guard of the state needs sync
		d.Transitions[allDone].When = onTargetChange
		d.Transitions[restartedRow].When = restarted
	}
	cases := map[string]struct {
		change func(*toyDefinition)
		entry  *lifecyclev1.Lifecycle
		want   string
	}{
		"a guard":      {func(d *toyDefinition) { d.Transitions[pathForbidden].When = sneaky }, at("Checking", nil), "guard of path-forbidden from Checking"},
		"an Invariant": {func(d *toyDefinition) { d.States[checking].Invariant = sneaky }, at("Checking", nil), "Invariant of Checking"},
		"a target":     {func(d *toyDefinition) { d.Target = func(f *toyFacts) Target { reads(f); return Target{To: "2"} } }, at("Checking", nil), "target"},
		"an Infer": {func(d *toyDefinition) {
			d.Infer.Find = func(f *toyFacts) (InferredState[toyData], transitions.Verdict) {
				return InferredState[toyData]{}, reads(f)
			}
		}, nil, "Infer"},
		"a choice": {func(d *toyDefinition) {
			d.Transitions[nodeSelected].Choose = &Choice[toyFacts, toyData]{Guard: nextNode.Guard, Pick: func(f *toyFacts, m toyData) (transitions.Verdict, toyData) { return reads(f), m }}
		}, at("Checking", nil), "guard of node-selected from Checking"},
		"any panic": {func(d *toyDefinition) {
			d.Transitions[pathForbidden].When = toyGuard{Name: "odd", Doc: "panics", Expected: "calm", Evaluate: func(*toyFacts, toyData) transitions.Verdict { panic("odd") }}
		}, at("Checking", nil), "guard of path-forbidden from Checking: panic: odd"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			def := toy()
			noSync(&def)
			tc.change(&def)
			got := evaluate(mustCompile(t, def), tc.entry, half()).Decide()
			if got.Err == nil || got.Move != nil || got.MayAct {
				t.Fatalf("decided %+v, want an error and nothing else", got)
			}
			if text := got.Err.Error(); !strings.Contains(text, "machine toy-version, "+tc.want) {
				t.Errorf("%q does not name %q", text, tc.want)
			}
			if defect := (transitions.NotAsked{}); name != "any panic" && (!errors.As(got.Err, &defect) || defect.Type != "bool") {
				t.Errorf("%v does not name the fact that was read", got.Err)
			}
		})
	}
}

func TestLookNamesTheLifecycleOfAPanicInObserve(t *testing.T) {
	lc := Bind(mustCompile(t, toy()), Binding[struct{}, toyFacts, toyFacts, toyEffect, string]{
		Name:  "version",
		Facts: func(struct{}, toyFacts, ObserveOptions) toyFacts { panic("no snapshot") },
	}).evaluator
	l := lc.Evaluate(EvaluationInput[struct{}, toyFacts]{Entry: at("Restarting", nil), Options: ObserveOptions{Now: now}})
	for what, err := range map[string]error{"Decide": l.Decide().Err, "Act": l.Act().Err} {
		if err == nil || !strings.Contains(err.Error(), "observing for lifecycle version: panic: no snapshot") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestLookReadsTheFactsOnce(t *testing.T) {
	looks := 0
	lc := Bind(mustCompile(t, toy()), Binding[struct{}, toyFacts, toyFacts, toyEffect, string]{
		Name:  "version",
		Facts: func(_ struct{}, snapshot toyFacts, _ ObserveOptions) toyFacts { looks++; return snapshot },
	}).evaluator
	l := lc.Evaluate(EvaluationInput[struct{}, toyFacts]{Snapshot: half(), Entry: at("Checking", nil), UID: toyUID, Options: ObserveOptions{Now: now}})
	l.Decide()
	l.Project()
	l.Decide()
	if looks != 1 {
		t.Errorf("one look observed %d times", looks)
	}
}
