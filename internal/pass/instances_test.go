package pass_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// several makes the lifecycle tank with the instances that list returns, beside the lifecycle left.
func several(t testing.TB, w world, list func() ([]string, bool), stored ...lifecyclev1.Lifecycle) (input, *[]evaluated) {
	in, calls := given(t, w, stored...)
	one := machines.Bind(compile(t), machines.Binding[string, world, tank, string, string]{
		Name: "tank", Instances: func(string, world) ([]string, bool) { return list() },
		Facts: func(_ string, snapshot world, ask machines.ObserveOptions) tank {
			seen := snapshot[ask.Instance]
			if !ask.Wants("level") {
				seen.Level = transitions.Fact[bool]{}
			}
			return seen
		},
	})
	in.Lifecycles = []lifecycle{in.Lifecycles[0], one.Evaluator(access.Key{})}
	return in, calls
}

func TestDecideOfInstances(t *testing.T) {
	listed := func(names ...string) func() ([]string, bool) { return func() ([]string, bool) { return names, true } }
	full := world{"left": known(1, 1), "a": known(1, 1), "b": known(1, 1)}
	left := at("left", "Idle", "1")
	for name, tc := range map[string]struct {
		world  world
		list   func() ([]string, bool)
		stored entries
		// results are the evaluated lifecycles, moves the transitions, dropped the entries to remove.
		results, moves, dropped []string
		decided                 bool
		err                     string
	}{
		"the first entries of all instances are committed together": {
			world: full, list: listed("b", "a"), stored: entries{left},
			results: []string{"left", "tank/a", "tank/b"}, moves: []string{"tank/a: inferred  -> Idle", "tank/b: inferred  -> Idle"}, decided: true,
		},
		"each instance has its own facts": {
			world: world{"left": known(1, 1), "a": known(1, 1), "b": known(1, 2)}, list: listed("a", "b"),
			stored:  entries{left, at("tank/a", "Idle", "1"), at("tank/b", "Idle", "1")},
			results: []string{"left", "tank/a", "tank/b"}, moves: []string{"tank/b: wanted Idle -> Waiting"},
		},
		"an instance that is added is inferred": {
			world: full, list: listed("a", "b"), stored: entries{left, at("tank/a", "Idle", "1")},
			results: []string{"left", "tank/a", "tank/b"}, moves: []string{"tank/b: inferred  -> Idle"}, decided: true,
		},
		"the entry of an instance that is not declared any more is dropped": {
			world: full, list: listed("b"), stored: entries{left, at("tank/a", "Idle", "1"), at("tank/b", "Idle", "1")},
			results: []string{"left", "tank/b"}, dropped: []string{"tank/a"}, decided: true,
		},
		"no instance is dropped while the list is not known": {
			world: full, list: func() ([]string, bool) { return nil, false }, stored: entries{left, at("tank/a", "Idle", "1")},
			results: []string{"left", "tank", "tank/a"},
		},
		"an object without instances is decided": {world: full, list: listed(), stored: entries{left}, results: []string{"left"}, decided: true},
		"a name that is too long is reported and prevents no other instance": {
			world: full, list: listed("a", strings.Repeat("x", 64)), stored: entries{left, at("tank/b", "Idle", "1")},
			results: []string{"left", "tank", "tank/a", "tank/b"}, moves: []string{"tank/a: inferred  -> Idle"}, err: "has 64 bytes",
		},
		"a panic is reported and drops nothing": {
			world: full, list: func() ([]string, bool) { panic(errors.New("no pools")) }, stored: entries{left, at("tank/a", "Idle", "1")},
			results: []string{"left", "tank", "tank/a"}, err: "listing the instances of lifecycle tank: no pools",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := several(t, tc.world, tc.list, tc.stored...)
			step, err := pass.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			var results []string
			for _, lc := range step.Lifecycles {
				results = append(results, lc.Name())
			}
			type got struct {
				Results, Moves, Dropped []string
				Decided                 bool
			}
			want := got{tc.results, tc.moves, tc.dropped, tc.decided}
			if diff := cmp.Diff(want, got{results, words(step), step.Dropped, step.Decided}, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("step (-want +got):\n%s", diff)
			}
			if err := errors.Join(step.Errs...); (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

func TestDecideObservesWhatInfersAnInstanceThatIsAdded(t *testing.T) {
	in, calls := several(t, world{"left": known(1, 1), "a": known(1, 1)}, func() ([]string, bool) { return []string{"a"}, true }, at("left", "Idle", "1"))
	if _, err := pass.Decide(in); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]evaluated{{}, {Needs: needs("level")}}, *calls, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("observations (-want +got):\n%s", diff)
	}
}

func TestFind(t *testing.T) {
	in, _ := several(t, world{}, nil)
	for entry, want := range map[string]string{"left": "left", "tank/a": "tank/a", "tank": "tank", "left/a": "", "other": ""} {
		got := ""
		if lc := pass.Find(in.Lifecycles, entry); lc != nil {
			got = lc.Name()
		}
		if got != want {
			t.Errorf("Find(%q) = %q, want %q", entry, got, want)
		}
	}
}

// Instances that are being released count: the status has no room for more.
func TestDecideAdmitsInstancesOnlyIntoFreeRoom(t *testing.T) {
	w := world{"left": known(1, 1), "a": known(1, 1), "b": known(1, 1), "c": known(1, 1)}
	in, _ := given(t, w, at("left", "Idle", "1"), at("tank/a", "Idle", "1"), at("tank/b", "Idle", "1"))
	one := machines.Bind(compile(t), machines.Binding[string, world, tank, string, string]{
		Name: "tank", MaxInstances: 2, Instances: func(string, world) ([]string, bool) { return []string{"b", "c"}, true },
		Facts: func(_ string, snapshot world, ask machines.ObserveOptions) tank { return snapshot[ask.Instance] },
	})
	in.Lifecycles = []lifecycle{in.Lifecycles[0], one.Evaluator(access.Key{})}
	step, err := pass.Decide(in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range step.Results {
		got = append(got, s.Name)
	}
	if slices.Contains(got, "tank/c") || step.Decided {
		t.Errorf("results %q, decided: %v; want tank/c to wait", got, step.Decided)
	}
	if err := errors.Join(step.Errs...); err == nil || !strings.Contains(err.Error(), "1 instances wait until others are released") {
		t.Errorf("errors %v", err)
	}
}

// releasing is the machine of the tanks with a deletion that empties the tank.
func releasing() machines.Definition[tank, none, string] {
	def := definition()
	def.States[2].Action.NeedsFinalizer = true
	def.States = append(def.States,
		machines.State[tank, none, string]{
			State:     states.State{Name: "Draining", Kind: states.Wait, Doc: "the tank runs dry", Deadline: time.Minute, Poll: time.Second},
			Invariant: transitions.Always[tank, none](),
		},
		machines.State[tank, none, string]{State: states.State{Name: "Empty", Kind: states.Rest, Doc: "nothing is left"}})
	def.Transitions = append(def.Transitions, machines.Transition[tank, none]{
		Event: "drained", From: "Draining", To: "Empty", Awaited: true, When: cheap("dry", func(t *tank) bool { return t.Have == 0 }),
	})
	def.Deletion = machines.Deletion{To: "Draining", End: "Empty"}
	return def
}

// What a deletion releases must not be held by an instance that never had an entry, nor by a machine that has nothing to release.
func TestDecideReleasesWhatCannotHoldAnything(t *testing.T) {
	listed := func(names ...string) func(string, world) ([]string, bool) {
		return func(string, world) ([]string, bool) { return names, true }
	}
	unknown := func(string, world) ([]string, bool) { return nil, false }
	panics := func(string, world) ([]string, bool) { panic(errors.New("no pools")) }
	seen := func(_ string, snapshot world, ask machines.ObserveOptions) tank { return snapshot[ask.Instance] }
	blind := func(string, world, machines.ObserveOptions) tank { panic(errors.New("no facts")) }
	long := strings.Repeat("x", machines.MaxInstanceName+1)
	empty := at("tank/a", "Empty", machines.DeletionTarget)
	for name, tc := range map[string]struct {
		definition machines.Definition[tank, none, string]
		names      func(string, world) ([]string, bool)
		facts      func(string, world, machines.ObserveOptions) tank
		stored     entries
		want       bool
	}{
		"every instance is released":                                    {releasing(), listed("a"), seen, entries{empty}, true},
		"an instance is not":                                            {releasing(), listed("d"), seen, entries{at("tank/d", "Draining", machines.DeletionTarget)}, false},
		"a name that cannot be managed":                                 {releasing(), listed("a", long), seen, entries{empty}, true},
		"more names than are managed":                                   {releasing(), listed("a", "b", "c"), seen, entries{empty, at("tank/b", "Empty", machines.DeletionTarget)}, true},
		"a name that waits for room":                                    {releasing(), listed("b"), seen, entries{empty, at("tank/c", "Empty", machines.DeletionTarget)}, true},
		"names that cannot be read, which a lost entry may be among":    {releasing(), unknown, seen, entries{empty}, false},
		"a defect in the list":                                          {releasing(), panics, seen, entries{empty}, false},
		"names that cannot be read, of a machine that releases nothing": {definition(), unknown, seen, nil, true},
		"a defect in the list, of a machine that releases nothing":      {definition(), panics, seen, nil, true},
		"a defect in the facts":                                         {releasing(), listed("a"), blind, entries{empty}, false},
		"a defect in the facts, of a machine that releases nothing":     {definition(), listed("a"), blind, entries{at("tank/a", "Idle", "1")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			machine, err := machines.Compile(tc.definition)
			if err != nil {
				t.Fatal(err)
			}
			in, _ := given(t, world{"left": known(1, 1), "a": known(0, 0), "b": known(0, 0), "c": known(0, 0), "d": known(1, 1)}, append(entries{at("left", "Idle", "1")}, tc.stored...)...)
			in.Deleting = true
			tanks := machines.Bind(machine, machines.Binding[string, world, tank, string, string]{Name: "tank", MaxInstances: 2, Instances: tc.names, Facts: tc.facts})
			in.Lifecycles = []lifecycle{in.Lifecycles[0], tanks.Evaluator(access.Key{})}
			step, err := pass.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range step.Moved {
				t.Errorf("moved: %+v", m.Move)
			}
			if step.Released != tc.want {
				t.Errorf("released: %v, want %v; %v", step.Released, tc.want, step.Errs)
			}
		})
	}
}

// The entry of an instance is the trace of what it holds: it is dropped in the end of its deletion only while that state is true.
func TestDecideDropsAnInstanceOnlyInAnEndThatIsTrue(t *testing.T) {
	def := releasing()
	def.States[len(def.States)-1].Invariant = costly("empty", "level", func(t *tank) transitions.Fact[bool] { return t.Level })
	machine, err := machines.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		level transitions.Fact[bool]
		want  []string
	}{
		"the state is true":        {level: transitions.Known(true, time.Time{}), want: []string{"tank/a"}},
		"the state cannot be seen": {level: transitions.Unreadable[bool](errors.New("time-out"))},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := given(t, world{"left": known(1, 1), "a": {Level: tc.level}}, at("left", "Idle", "1"), at("tank/a", "Empty", machines.DeletionTarget))
			tanks := machines.Bind(machine, machines.Binding[string, world, tank, string, string]{
				Name: "tank", Instances: func(string, world) ([]string, bool) { return nil, true },
				Facts: func(_ string, snapshot world, ask machines.ObserveOptions) tank { return snapshot[ask.Instance] },
			})
			in.Lifecycles = []lifecycle{in.Lifecycles[0], tanks.Evaluator(access.Key{})}
			step, err := pass.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, step.Dropped); diff != "" || len(step.Moved) > 0 {
				t.Errorf("moved %v; dropped (-want +got):\n%s", step.Moved, diff)
			}
		})
	}
}

// An action of an instance that is not declared any more observes what the list of the instances is read of, or it would never be released.
func TestActReleasesAnInstanceOfACostlyList(t *testing.T) {
	for name, live := range map[string]bool{"on live facts": true, "on the facts of the decision, and on later ones": false} {
		t.Run(name, func(t *testing.T) {
			def := releasing()
			def.States[3].Kind = states.Work
			def.States[3].Action = &machines.Action[tank, none, string]{Effects: func(*tank, none) []string { return []string{"drain"} }, Live: live}
			machine, err := machines.Compile(def)
			if err != nil {
				t.Fatal(err)
			}
			in, _ := given(t, nil, at("tank/a", "Draining", machines.DeletionTarget), at("tank/b", "Draining", machines.DeletionTarget))
			in.AlwaysNeeded = needs("level")
			in.Observe = func(needs []transitions.Need, _ bool) (world, error) {
				w := world{"a": {Have: 1}, "b": {Have: 1}}
				if slices.Contains(needs, "level") {
					w["list"] = tank{Level: transitions.Known(true, now)}
				}
				return w, nil
			}
			tanks := machines.Bind(machine, machines.Binding[string, world, tank, string, string]{
				Name: "tank", Instances: func(_ string, snapshot world) ([]string, bool) { return nil, snapshot["list"].Level.Asked() },
				Facts: func(_ string, snapshot world, ask machines.ObserveOptions) tank { return snapshot[ask.Instance] },
			})
			in.Lifecycles = []lifecycle{tanks.Evaluator(access.Key{})}
			step, err := pass.Decide(in)
			if err != nil || len(step.Results) != 2 {
				t.Fatalf("%d results, %v", len(step.Results), err)
			}
			for i := range step.Results {
				acting, _, err := pass.Act(in, &step, &step.Results[i])
				if err != nil || acting.Err != nil {
					t.Fatal(err, acting.Err)
				}
				if diff := cmp.Diff([]string{"drain"}, acting.Effects); diff != "" {
					t.Errorf("effects of %s (-want +got):\n%s", step.Results[i].Name, diff)
				}
			}
		})
	}
}
