package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
	"github.com/detent-dev/detent/transitions"
)

// doors of a turnstile: one instance of the lifecycle door each.
type doors struct {
	declared []string
	// list, if set, replaces declared.
	list func() []string
	// wanted and open are doors by name.
	wanted, open map[string]bool
	// done are the effects that were executed, with their instances.
	done []string
}

// doorFacts are the facts of one door.
type doorFacts struct {
	Wanted, Open bool
	Name         string
}

func (d *doors) lifecycle(t *testing.T) turnstile.Lifecycle {
	t.Helper()
	is := func(name string, read func(*doorFacts) bool) transitions.Guard[doorFacts, struct{}] {
		return transitions.Guard[doorFacts, struct{}]{Name: name, Doc: name, Expected: name, Evaluate: func(f *doorFacts, _ struct{}) transitions.Verdict {
			return transitions.If(read(f), "the door "+f.Name+" is not "+name)
		}}
	}
	isOpen, isWanted := is("open", func(f *doorFacts) bool { return f.Open }), is("wanted", func(f *doorFacts) bool { return f.Wanted })
	always := transitions.Always[doorFacts, struct{}]()
	work := func(name, op string, needsFinalizer bool) machines.State[doorFacts, struct{}, turnstile.Effect] {
		return machines.State[doorFacts, struct{}, turnstile.Effect]{
			State:     states.State{Name: name, Kind: states.Work, Doc: name, Poll: time.Second, Deadline: time.Minute},
			Invariant: always, OnTargetChange: machines.KeepAttempt,
			Action: &machines.Action[doorFacts, struct{}, turnstile.Effect]{Name: op, Doc: op, NeedsFinalizer: needsFinalizer, Effects: func(*doorFacts, struct{}) []turnstile.Effect {
				return []turnstile.Effect{{Op: op}}
			}},
		}
	}
	machine, err := machines.Compile(machines.Definition[doorFacts, struct{}, turnstile.Effect]{
		Name: "door", Doc: "opens a door",
		States: []machines.State[doorFacts, struct{}, turnstile.Effect]{
			{State: states.State{Name: "Still", Kind: states.Rest, Doc: "as wanted"}}, work("Opening", "open", true), work("Shutting", "shut", false),
			{State: states.State{Name: "Shut", Kind: states.Rest, Doc: "shut for good"}},
		},
		Transitions: []machines.Transition[doorFacts, struct{}]{
			{Event: "wanted", From: "Still", To: "Opening", NewAttempt: true, When: transitions.All(isWanted, transitions.Not(isOpen, "a shut door")), Doc: "it is wanted open"},
			{Event: "opened", From: "Opening", To: "Still", Awaited: true, When: isOpen, Doc: "it is open"},
			{Event: "shut", From: "Shutting", To: "Shut", Awaited: true, When: transitions.Not(isOpen, "a shut door"), Doc: "it is shut"},
		},
		Deletion: machines.Deletion{To: "Shutting", End: "Shut"},
		Target:   func(*doorFacts) machines.Target { return machines.Target{To: "as wanted"} },
		Infer: machines.Inference[doorFacts, struct{}]{States: []string{"Still"}, Find: func(*doorFacts) (machines.InferredState[struct{}], transitions.Verdict) {
			return machines.InferredState[struct{}]{State: "Still"}, transitions.Allow()
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return machines.Bind(machine, machines.Binding[*api.Turnstile, turnstile.Snapshot, doorFacts, turnstile.Effect, turnstile.Effect]{
		Name: "door",
		Instances: func(*api.Turnstile, turnstile.Snapshot) ([]string, bool) {
			if d.list != nil {
				return d.list(), true
			}
			return d.declared, true
		},
		Facts: func(_ *api.Turnstile, _ turnstile.Snapshot, ask machines.ObserveOptions) doorFacts {
			return doorFacts{Wanted: d.wanted[ask.Instance], Open: d.open[ask.Instance], Name: ask.Instance}
		},
	})
}

// withDoors is a rig whose turnstile has doors besides its lamp.
func withDoors(t *testing.T, d *doors) *rig {
	t.Helper()
	return newRig(t, func(r *rig) {
		r.kind.Lifecycles = append(r.kind.Lifecycles[1:2:2], d.lifecycle(t))
		execute := r.kind.Execute
		r.kind.Execute = func(ctx context.Context, request lifecycle.EffectRequest[*api.Turnstile, turnstile.Snapshot, turnstile.Effect]) error {
			if request.Effect.Op != "open" && request.Effect.Op != "shut" {
				return execute(ctx, request)
			}
			d.done = append(d.done, request.Effect.Op+" "+request.Instance)
			return nil
		}
	})
}

// reconcile reconciles several times, and returns the entries as the status shows them.
func (r *rig) reconcile(times int) (shown []string) {
	r.Helper()
	for range times {
		result, _ := r.try()
		r.advance(max(min(result.RequeueAfter, 10*time.Second), time.Second))
	}
	if !r.exists() {
		return nil
	}
	for _, e := range r.gate().Status.Lifecycles {
		shown = append(shown, e.Name+" "+e.State)
	}
	return shown
}

func TestInstancesHaveStatesOfTheirOwn(t *testing.T) {
	d := &doors{declared: []string{"north", "east"}, wanted: map[string]bool{}, open: map[string]bool{}}
	r := withDoors(t, d)
	steps := []struct {
		name string
		do   func()
		// done are the effects of the step, shown the entries after it.
		done, shown []string
		ready       string
	}{
		{name: "all instances are at rest", do: func() {}, shown: []string{"door/east Still", "door/north Still", "lamp Lit"}, ready: "no lifecycle is under way"},
		{
			name: "one works, and is shown first", do: func() { d.wanted["north"] = true },
			done: []string{"open north"}, shown: []string{"door/north Opening", "door/east Still", "lamp Lit"},
			ready: "door/north as wanted: open: the door north is not open",
		},
		{
			name: "two work", do: func() { d.wanted["east"] = true },
			done: []string{"open east", "open north"}, shown: []string{"door/east Opening", "door/north Opening", "lamp Lit"},
			ready: "door/east as wanted: open: the door east is not open; 1 more of door are under way",
		},
		{
			name: "one that is not declared any more is deleted first", do: func() { d.declared, d.open["east"] = []string{"north"}, true },
			done: []string{"open north", "shut east"}, shown: []string{"door/east Shutting", "door/north Opening", "lamp Lit"},
			ready: "door/east (deletion): not(open): expected a shut door; 1 more of door are under way",
		},
		{
			name: "and its entry removed", do: func() { d.open = map[string]bool{"north": true} },
			shown: []string{"door/north Still", "lamp Lit"}, ready: "no lifecycle is under way",
		},
	}
	for _, step := range steps {
		step.do()
		d.done = nil
		shown := r.reconcile(8)
		slices.Sort(d.done)
		if diff := cmp.Diff(step.shown, shown); diff != "" {
			t.Errorf("%s: entries (-want +got):\n%s", step.name, diff)
		}
		if diff := cmp.Diff(step.done, slices.Compact(d.done), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: effects (-want +got):\n%s", step.name, diff)
		}
		ready := meta.FindStatusCondition(r.gate().Status.Conditions, lifecycle.Ready)
		if !strings.HasPrefix(ready.Message, step.ready) {
			t.Errorf("%s: message %q, want %q", step.name, ready.Message, step.ready)
		}
	}
	r.writes = nil
	r.reconcile(5)
	if len(r.writes) > 0 {
		t.Errorf("writes at rest: %q", r.writes)
	}
	d.done = nil
	r.remove()
	r.reconcile(3)
	d.open = nil
	if left := r.reconcile(5); r.exists() || !slices.Contains(d.done, "shut north") {
		t.Errorf("the object is left with %q after the effects %q", left, d.done)
	}
}

func TestInstanceIsNotReleasedWhenTheActionFindsItDeclared(t *testing.T) {
	d := &doors{declared: []string{"north", "east"}, open: map[string]bool{"north": true, "east": true}}
	r := withDoors(t, d)
	r.reconcile(12)
	lists := 0
	d.list = func() []string { // every decision reads an older list than its action
		lists++
		if lists%2 == 1 {
			return []string{"north"}
		}
		return []string{"east", "north"}
	}
	r.reconcile(1) // commits the deletion
	lists = 0
	if shown := r.reconcile(4); shown[0] != "door/east Shutting" || len(d.done) > 0 || lists != 8 {
		t.Errorf("entries %q after the effects %q with %d lists, want none", shown, d.done, lists)
	}
	d.list, d.declared = nil, []string{"north"}
	r.reconcile(2)
	if diff := cmp.Diff([]string{"shut east"}, slices.Compact(d.done)); diff != "" {
		t.Errorf("effects once the lists agree (-want +got):\n%s", diff)
	}
}

func TestManyInstancesShareTheRoomOfTheStatus(t *testing.T) {
	d := &doors{wanted: map[string]bool{}, open: map[string]bool{}}
	for i := range 300 {
		name := fmt.Sprintf("%03d-%s", i, strings.Repeat("x", machines.MaxInstanceName-4))
		d.declared = append(d.declared, name)
	}
	r := withDoors(t, d)
	if got := len(r.reconcile(2)); got != len(d.declared)+1 {
		t.Fatalf("%d entries after two reconciles, want those of all instances", got)
	}
	for range 2 { // a history of several transitions each
		for _, name := range d.declared[:8] {
			d.wanted[name] = true
		}
		r.reconcile(10)
		for _, name := range d.declared[:8] {
			d.open[name] = true
		}
		r.reconcile(10)
		d.open = map[string]bool{}
	}
	r.reconcile(20)
	text, err := json.Marshal(r.gate().Status)
	if err != nil {
		t.Fatal(err)
	}
	if most := 300 << 10; len(text) > most {
		t.Errorf("the status has %d bytes, want at most %d", len(text), most)
	}
	r.writes = nil
	r.reconcile(2)
	if len(r.writes) > 0 {
		t.Errorf("writes while waiting: %q", r.writes)
	}
	d.declared = append(d.declared, make([]string, machines.MaxInstances)...)
	for i := range d.declared {
		d.declared[i] = fmt.Sprintf("%03d", i)
	}
	r.reconcile(3)
	ready := meta.FindStatusCondition(r.gate().Status.Conditions, lifecycle.Ready)
	if want := "at most 500 are managed: 500 and 299 more are not"; !strings.Contains(ready.Message, want) {
		t.Errorf("message %q, want %q", ready.Message, want)
	}
}
