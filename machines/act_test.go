package machines

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

func TestAct(t *testing.T) {
	type want struct {
		Effects            []string
		PreconditionFailed *moved
		Blocked            []string
		Err                string
	}
	cases := map[string]struct {
		change func(*toyDefinition)
		entry  *lifecyclev1.Lifecycle
		facts  toyFacts
		want   want
	}{
		"a permitted action says what it wants done": {entry: at("Restarting", map[string]string{"node": "b"}), facts: half(), want: want{Effects: []string{"restart b"}}},
		"an action may want nothing":                 {entry: at("Raising", nil), facts: done()},
		"a withdrawn permission fails the precondition": {
			entry: at("Restarting", map[string]string{"node": "b"}), facts: with(half(), func(f *toyFacts) { f.Allowed = false }),
			want: want{PreconditionFailed: &moved{Edge: "precondition-failed Restarting -> Checking", Attempt: "kept"}, Blocked: []string{"path-allowed"}},
		},
		"a permission that is not known blocks": {
			entry: at("Restarting", map[string]string{"node": "b"}), facts: with(half(), func(f *toyFacts) { f.Sync = transitions.Unreadable[bool](errDown) }),
			want: want{Blocked: []string{"in-sync"}},
		},
		"a permission that is not known blocks an action that finds nothing to do": {
			change: resting(true), entry: at("Restarting", map[string]string{"node": "b"}),
			facts: with(half(), func(f *toyFacts) { f.Sync = transitions.Unreadable[bool](errDown) }), want: want{Blocked: []string{"in-sync"}},
		},
		"a withdrawn permission does not concern an action that finds nothing to do": {
			change: resting(true), entry: at("Restarting", map[string]string{"node": "b"}), facts: with(half(), func(f *toyFacts) { f.Allowed = false }),
		},
		"a withdrawn permission outweighs one that is not known": {
			entry: at("Restarting", map[string]string{"node": "b"}), facts: with(half(), func(f *toyFacts) { f.Sync, f.Allowed = transitions.Unreadable[bool](errDown), false }),
			want: want{PreconditionFailed: &moved{Edge: "precondition-failed Restarting -> Checking", Attempt: "kept"}, Blocked: []string{"path-allowed", "in-sync"}},
		},
		"data that cannot be decoded": {entry: at("Restarting", map[string]string{"pod": "b"}), facts: half(), want: want{Err: "decoding the data of Restarting"}},
		"an action that reads what it does not declare": {
			change: func(d *toyDefinition) {
				d.States[restarting].Action.Precondition, d.States[restarting].Action.OnPreconditionFailed = toyGuard{}, ""
				d.States[restarting].Action.Effects = func(f *toyFacts, _ toyData) []toyEffect { reads(f); return nil }
			},
			entry: at("Restarting", map[string]string{"node": "b"}), facts: half(), want: want{Err: "action restart: a fact of type bool"},
		},
		"a permission that reads what it does not declare": {
			change: func(d *toyDefinition) {
				g := inSync
				g.Name, g.Needs = "sync-live", nil
				d.States[restarting].Action.Precondition = g
			},
			entry: at("Restarting", map[string]string{"node": "b"}), facts: half(), want: want{Err: "Precondition of Restarting: a fact of type bool"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lc := bind(mustCompile(t, changed(tc.change)))
			action, ok := lc.Action(tc.entry.State)
			if !ok {
				t.Fatalf("%s has no action", tc.entry.State)
			}
			acting := lc.Evaluate(EvaluationInput[struct{}, toyFacts]{Snapshot: tc.facts, UID: toyUID, Entry: tc.entry, Options: ObserveOptions{Needs: action.Needs, Live: true, Now: now}}).Act()
			got := want{Effects: acting.Effects, PreconditionFailed: describe(tc.entry, acting.PreconditionFailed)}
			for _, b := range acting.Blocked {
				got.Blocked = append(got.Blocked, b.Guard)
			}
			if acting.Err != nil {
				if tc.want.Err == "" || !strings.Contains(acting.Err.Error(), tc.want.Err) {
					t.Fatalf("err = %v, want %q", acting.Err, tc.want.Err)
				}
				got.Err = tc.want.Err
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLookIdle(t *testing.T) {
	level := []transitions.Need{"level"}
	cases := map[string]struct {
		change func(*toyDefinition)
		entry  *lifecyclev1.Lifecycle
		facts  toyFacts
		asked  []transitions.Need
		want   bool
	}{
		"all is done":                             {entry: at("Raising", nil), facts: done(), asked: level, want: true},
		"something is left to do":                 {entry: at("Raising", nil), facts: half(), asked: level},
		"what it reads was not asked for":         {entry: at("Raising", nil), facts: done()},
		"what its Precondition reads need not be": {entry: at("Restarting", map[string]string{"node": "b"}), facts: half(), change: resting(true), want: true},
		"something is left to do, not permitted":  {entry: at("Restarting", map[string]string{"node": "b"}), facts: with(half(), func(f *toyFacts) { f.Allowed = false })},
		"data that cannot be decoded":             {entry: at("Restarting", map[string]string{"pod": "b"}), facts: half(), change: resting(true)},
		"it reads what it does not declare":       {entry: at("Restarting", map[string]string{"node": "b"}), facts: half(), change: resting(false)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lc := bind(mustCompile(t, changed(tc.change)))
			evaluation := lc.Evaluate(EvaluationInput[struct{}, toyFacts]{Snapshot: tc.facts, UID: toyUID, Entry: tc.entry, Options: ObserveOptions{Needs: tc.asked, Now: now}})
			if got := evaluation.Idle(); got != tc.want {
				t.Errorf("idle = %v, want %v", got, tc.want)
			}
		})
	}
}

// resting gives Restarting an action without effects, which reads only declared facts or also others.
func resting(declared bool) func(*toyDefinition) {
	return func(d *toyDefinition) {
		d.States[restarting].Action.Effects = func(f *toyFacts, _ toyData) []toyEffect {
			if !declared {
				reads(f)
			}
			return nil
		}
	}
}

func TestLifecycleDescribesItsStatesAndActions(t *testing.T) {
	lc := bind(mustCompile(t, toy()))
	if lc.Name() != "version" || lc.MaxTransitionsWithoutProgress() != 40 || lc.Graph().Name != "toy-version" {
		t.Errorf("name %q, bound %d, graph %q", lc.Name(), lc.MaxTransitionsWithoutProgress(), lc.Graph().Name)
	}
	if s, ok := lc.State(Inferring); !ok || s.Kind != states.Wait || s.Deadline == 0 || s.Poll == 0 {
		t.Errorf("Inferring is %+v (%v)", s, ok)
	}
	if _, ok := lc.State("Dancing"); ok {
		t.Error("a state that nobody declared is there")
	}
	action, ok := lc.Action("Restarting")
	want := ActionInfo{Name: "restart", Needs: []transitions.Need{"sync"}, Live: true, RequeueAfter: time.Second}
	if diff := cmp.Diff(want, action); diff != "" || !ok {
		t.Errorf("action (-want +got):\n%s", diff)
	}
	if _, ok := lc.Action("Settled"); ok {
		t.Error("a rest acts")
	}
	needs := map[string][]transitions.Need{}
	for _, state := range []string{"Settled", "Checking", "Restarting", "Raising", Inferring, "Dancing"} {
		needs[state] = lc.Needs(&lifecyclev1.Lifecycle{State: state})
	}
	wantNeeds := map[string][]transitions.Need{
		"Settled": nil, "Checking": {"sync"}, "Restarting": {"sync"}, "Raising": {"level"}, Inferring: {"level"}, "Dancing": {"level"},
	}
	if diff := cmp.Diff(wantNeeds, needs); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]transitions.Need{"level"}, lc.Needs(nil)); diff != "" {
		t.Errorf("needs without an entry (-want +got):\n%s", diff)
	}
	if got := lc.Need("sync").MaxAge; got != 30*time.Second {
		t.Errorf("default age of a reading is %v", got)
	}
	if got := lc.Need("level").MaxAge; got != time.Minute {
		t.Errorf("declared age of a reading is %v", got)
	}
}
