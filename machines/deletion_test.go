package machines

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// withDeletion is the toy with a deletion that lowers the level before the object is deleted.
func withDeletion(change ...func(*toyDefinition)) toyDefinition {
	lowered := toyGuard{
		Name: "lowered", Doc: "the level is lowered", Expected: "level 1", Needs: []transitions.Need{"level"},
		Evaluate: func(f *toyFacts, _ toyData) transitions.Verdict {
			level, known := f.Level.Get()
			if !known {
				return f.Level.Gap()
			}
			return transitions.If(level == 1, "level 2")
		},
	}
	def := toy()
	def.States[raising].Action.NeedsFinalizer = true
	def.States = append(def.States,
		toyState{
			State:     states.State{Name: "Lowering", Kind: states.Work, Doc: "the level is being lowered", Deadline: time.Minute},
			Invariant: transitions.AlwaysBecause[toyFacts, toyData]("a deletion leads here from every state"),
			Action: &Action[toyFacts, toyData, toyEffect]{
				Name: "lower", Doc: "lowers the level", Effects: func(*toyFacts, toyData) []toyEffect { return []toyEffect{"lower"} },
			},
		},
		toyState{State: states.State{Name: "Draining", Kind: states.Wait, Doc: "the nodes catch up", Deadline: time.Minute}, Invariant: lowered},
		toyState{State: states.State{Name: "Released", Kind: states.Rest, Doc: "nothing is left"}},
	)
	def.Transitions = append(def.Transitions,
		toyRow{Event: "lowered", From: "Lowering", To: "Draining", When: lowered, Awaited: true, Doc: "the level was lowered"},
		toyRow{Event: "drained", From: "Draining", To: "Released", When: inSync, Awaited: true, Doc: "the nodes caught up"},
	)
	def.Deletion = Deletion{To: "Lowering", End: "Released"}
	for _, c := range change {
		c(&def)
	}
	return def
}

// deletingAt is an entry in the state, in the attempt of a deletion.
func deletingAt(state string, data map[string]string) *lifecyclev1.Lifecycle {
	entry := at(state, data)
	entry.Attempt = attemptAt(DeletionTarget)
	return entry
}

func TestDecideDeletion(t *testing.T) {
	unread := with(half(), func(f *toyFacts) { f.Level = transitions.Unreadable[int](errDown) })
	raisedLevel := with(half(), func(f *toyFacts) { f.Level = transitions.Known(2, now) })
	type want struct {
		Moved    *moved
		MayAct   bool
		Released bool
		Err      string
	}
	requested := func(from, attempt string) want {
		return want{Moved: &moved{Edge: "deletion-requested " + from + " -> Lowering", Attempt: attempt}}
	}
	for name, tc := range map[string]struct {
		change []func(*toyDefinition)
		entry  *lifecyclev1.Lifecycle
		facts  toyFacts
		want   want
	}{
		"from rest":                              {entry: at("Settled", nil), facts: half(), want: requested("Settled", "new")},
		"from work, whatever the data":           {entry: at("Restarting", map[string]string{"node": "b"}), facts: half(), want: requested("Restarting", "new")},
		"from a state that keeps its attempt":    {entry: at("Raising", nil), facts: half(), want: requested("Raising", "new")},
		"without a persisted state":              {facts: half(), want: requested("", "new")},
		"without a persisted state or an answer": {facts: unread, want: requested("", "new")},
		"from a state of another release":        {entry: at("Dancing", nil), facts: half(), want: requested("Dancing", "new")},
		"from a state that is migrated":          {entry: at("Verifying", nil), facts: half(), want: requested("Verifying", "new")},
		"from Inferring":                         {entry: at(Inferring, nil), facts: unread, want: requested(Inferring, "new")},
		"from a state of the deletion that another attempt has entered": {
			entry: at("Draining", nil), facts: half(), want: requested("Draining", "new"),
		},
		"a state of the deletion acts":         {entry: deletingAt("Lowering", nil), facts: raisedLevel, want: want{MayAct: true}},
		"a transition of the deletion":         {entry: deletingAt("Lowering", nil), facts: half(), want: want{MayAct: true, Moved: &moved{Edge: "lowered Lowering -> Draining", Attempt: "kept"}}},
		"data that cannot be read":             {entry: deletingAt("Draining", map[string]string{"node": ""}), facts: half(), want: requested("Draining", "kept")},
		"an invariant that says no":            {entry: deletingAt("Draining", nil), facts: raisedLevel, want: requested("Draining", "kept")},
		"an invariant that cannot be answered": {entry: deletingAt("Draining", nil), facts: with(unread, func(f *toyFacts) { f.Sync = transitions.Unreadable[bool](errDown) }), want: want{}},
		"the end":                              {entry: deletingAt("Released", nil), facts: half(), want: want{MayAct: true, Released: true}},
		"the end while its invariant cannot be answered": {
			change: []func(*toyDefinition){func(d *toyDefinition) { d.States[len(d.States)-1].Invariant = d.States[len(d.States)-2].Invariant }},
			entry:  deletingAt("Released", nil), facts: unread, want: want{},
		},
		"a changed target has no effect": {
			entry: deletingAt("Lowering", nil), facts: with(raisedLevel, func(f *toyFacts) { f.Wanted = "3" }), want: want{MayAct: true},
		},
		"a machine that declares no deletion": {
			change: []func(*toyDefinition){func(d *toyDefinition) { *d = toy() }},
			entry:  at("Restarting", map[string]string{"node": "b"}), facts: half(), want: want{Released: true},
		},
		"an invariant of the first state that says no is a defect": {
			change: []func(*toyDefinition){func(d *toyDefinition) { d.States[6].Invariant = raised }}, entry: deletingAt("Lowering", nil), facts: half(),
			want: want{Err: "machine toy-version: a deletion leads to Lowering although its Invariant says no: let it hold whenever the object is being deleted"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := mustCompile(t, withDeletion(tc.change...))
			lc := bind(m)
			evaluation := lc.Evaluate(EvaluationInput[struct{}, toyFacts]{
				Snapshot: tc.facts, UID: toyUID, Entry: tc.entry, Deleting: true, Options: ObserveOptions{Needs: lc.Needs(tc.entry), Now: now},
			})
			d := evaluation.Decide()
			got := want{Moved: describe(tc.entry, d.Move), MayAct: d.MayAct, Released: d.Released}
			if d.Err != nil {
				got.Err = d.Err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if d.Move == nil {
				return
			}
			entered, err := evaluation.Enter(*d.Move)
			if err != nil {
				t.Fatal(err)
			}
			if entered.Attempt == nil || entered.Attempt.To != DeletionTarget {
				t.Errorf("entered %s in attempt %+v, want one towards %s", entered.State, entered.Attempt, DeletionTarget)
			}
		})
	}
}

func TestDecideLeavesAStateOfADeletionIfTheObjectIsNotBeingDeleted(t *testing.T) {
	m := mustCompile(t, withDeletion())
	entry := deletingAt("Draining", nil) // a status that was restored from a backup
	want := &moved{Edge: "inferred Draining -> Checking", Attempt: "new"}
	if diff := cmp.Diff(want, describe(entry, evaluate(m, entry, half(), "level").Decide().Move)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGraphShowsTheDeletion(t *testing.T) {
	g := mustCompile(t, withDeletion()).Graph()
	if diff := cmp.Diff(&Deletion{To: "Lowering", End: "Released"}, g.Deletion); diff != "" {
		t.Errorf("deletion (-want +got):\n%s", diff)
	}
	want := []string{"Lowering", "Draining", "Released"}
	var only []string
	for _, s := range g.States {
		if s.OnlyDeletion {
			only = append(only, s.Name)
		}
	}
	if diff := cmp.Diff(want, only); diff != "" {
		t.Errorf("states that only a deletion leads to (-want +got):\n%s", diff)
	}
}

func TestCompileChecksTheDeletion(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*toyDefinition)
		want   string
		is     error
	}{
		"an end that does not exist": {
			change: func(d *toyDefinition) { d.Deletion.End = "Gone" }, is: ErrUndeclaredState, want: `deletion: undeclared state: declare state "Gone" or correct the name`,
		},
		"a first state that does not exist": {
			change: func(d *toyDefinition) { d.Deletion.To = "Lower" }, is: ErrUndeclaredState, want: `deletion: undeclared state: declare state "Lower" or correct the name`,
		},
		"an end that is no Rest": {
			change: func(d *toyDefinition) { d.Deletion.End = "Draining" }, is: ErrDeletion, want: "state Draining: incomplete deletion: the end of a deletion is a Rest that no transition leaves",
		},
		"an end that is left again": {
			change: func(d *toyDefinition) { d.Deletion.End = "Settled" }, is: ErrDeletion, want: "state Settled: incomplete deletion: the end of a deletion is a Rest that no transition leaves",
		},
		"an end that is inferred": {
			change: func(d *toyDefinition) { d.Infer.States = append(d.Infer.States, "Released") }, is: ErrDeletion,
			want: "state Released: incomplete deletion: Infer leads to the end of the deletion, which is never left: let it lead to another Rest",
		},
		"an end that a transition leads to": {
			change: func(d *toyDefinition) {
				d.Transitions = append(d.Transitions, toyRow{Event: "forgotten", From: "Checking", To: "Released", When: inSync, Doc: "nothing is left"})
			}, is: ErrDeletion,
			want: "state Released: incomplete deletion: state Checking leads to the end of the deletion, which is never left: let it lead to another Rest",
		},
		"an end that a changed target leads to": {
			change: func(d *toyDefinition) { d.States[raising].OnTargetChange = "Released" }, is: ErrDeletion,
			want: "state Released: incomplete deletion: state Raising leads to the end of the deletion, which is never left: let it lead to another Rest",
		},
		"a state from which nothing leads to the end": {
			change: func(d *toyDefinition) {
				d.Transitions = append(d.Transitions, toyRow{Event: "gives-up", From: "Draining", To: "Refused", When: pathAllowed, Doc: "gives up"})
			},
			is: ErrDeletion, want: "state Settled: incomplete deletion: a deletion leads here and not on to Released; declare the transitions to it",
		},
		"no action that needs the finalizer": {
			change: func(d *toyDefinition) { d.States[raising].Action.NeedsFinalizer = false }, is: ErrDeletion,
			want: "deletion: incomplete deletion: no action sets NeedsFinalizer, so that the object is deleted before the machine can act; set it on the action whose effects are released",
		},
		"an action that needs the finalizer of a machine without a deletion": {
			change: func(d *toyDefinition) { *d = toy(); d.States[raising].Action.NeedsFinalizer = true }, is: ErrDeletion,
			want: "action raise: incomplete deletion: nothing releases what it leaves behind; declare Deletion, or drop NeedsFinalizer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(withDeletion(tc.change))
			found := &Findings{}
			if !errors.As(err, &found) || !errors.Is(err, tc.is) {
				t.Fatalf("compiling: %v, want %v", err, tc.is)
			}
			for _, f := range found.All {
				if f.Error() == tc.want {
					return
				}
			}
			t.Errorf("found\n%v\nwant %s", err, tc.want)
		})
	}
}
