package pass_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
)

// TestDecideReleasesAnInstanceWhoseEntryIsLost finds an instance that is not declared by what exists of it. One that is declared is none of
// them, and a panic of the kind leaves the object undecided.
func TestDecideReleasesAnInstanceWhoseEntryIsLost(t *testing.T) {
	machine, err := machines.Compile(releasing())
	if err != nil {
		t.Fatal(err)
	}
	listed := func(names ...string) func() ([]string, bool) { return func() ([]string, bool) { return names, true } }
	for name, tc := range map[string]struct {
		existing func() ([]string, bool)
		deleting []string
		wrong    bool
	}{
		"nothing exists":                {existing: listed()},
		"what is declared exists":       {existing: listed("a")},
		"what is not declared exists":   {existing: listed("a", "b"), deleting: []string{"tank/b"}},
		"what no instance can be named": {existing: listed(strings.Repeat("x", 64))},
		"the kind panics":               {existing: func() ([]string, bool) { panic("odd answer") }, wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := given(t, world{"left": known(1, 1), "a": known(1, 1), "b": known(1, 1)}, at("left", "Idle", "1"))
			tanks := machines.Bind(machine, machines.Binding[string, world, tank, string, string]{
				Name: "tank", Instances: func(string, world) ([]string, bool) { return []string{"a"}, true },
				Existing: func(string, world) ([]string, bool) { return tc.existing() },
				Facts:    func(_ string, snapshot world, ask machines.ObserveOptions) tank { return snapshot[ask.Instance] },
			})
			in.Lifecycles = []lifecycle{in.Lifecycles[0], tanks.Evaluator(access.Key{})}
			step, err := pass.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			var deleting []string
			for _, r := range step.Results {
				if r.Deleting {
					deleting = append(deleting, r.Name)
				}
			}
			if diff := cmp.Diff(tc.deleting, deleting); diff != "" || len(step.Errs) > 0 != tc.wrong {
				t.Errorf("errors %v; deleting (-want +got):\n%s", step.Errs, diff)
			}
			if tc.wrong && step.Decided {
				t.Error("the object counts as decided")
			}
		})
	}
}

// TestDecideDoesNotReleaseWhatIsNotSeen holds an object that is being deleted, and leaves it undecided, while it is not known whether something
// exists of an instance without an entry. Of another object all that is declared is decided, and its status shows nothing of it.
func TestDecideDoesNotReleaseWhatIsNotSeen(t *testing.T) {
	machine, err := machines.Compile(releasing())
	if err != nil {
		t.Fatal(err)
	}
	listed := func(names ...string) func(string, world) ([]string, bool) {
		return func(string, world) ([]string, bool) { return names, true }
	}
	unknown := func(string, world) ([]string, bool) { return nil, false }
	type got struct {
		Released, Decided bool
		Shown             []string
	}
	left, empty := at("left", "Idle", "1"), at("tank/a", "Empty", machines.DeletionTarget)
	for name, tc := range map[string]struct {
		names, existing func(string, world) ([]string, bool)
		stored          entries
		deleting        bool
		want            got
	}{
		"nothing exists":                    {listed(), listed(), nil, true, got{true, true, []string{"left"}}},
		"not seen":                          {listed(), unknown, nil, true, got{false, false, []string{"left", "tank"}}},
		"not seen, and no name is valid":    {listed(""), unknown, nil, true, got{false, false, []string{"left", "tank"}}},
		"not seen, of a released one":       {listed("a"), unknown, entries{empty}, true, got{false, false, []string{"left", "tank", "tank/a"}}},
		"not seen, and names are not known": {unknown, unknown, nil, true, got{false, false, []string{"left", "tank"}}},
		"one waits for room":                {listed("a"), listed("b"), entries{empty}, true, got{false, false, []string{"left", "tank/a", "tank"}}},
		"not seen, and not being deleted":   {listed("a"), unknown, entries{at("tank/a", "Idle", "1")}, false, got{false, true, []string{"left", "tank/a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := given(t, world{"left": known(1, 1), "a": known(0, 0), "b": known(1, 1)}, append(entries{left}, tc.stored...)...)
			in.Deleting = tc.deleting
			tanks := machines.Bind(machine, machines.Binding[string, world, tank, string, string]{
				Name: "tank", MaxInstances: 1, Instances: tc.names, Existing: tc.existing,
				Facts: func(_ string, snapshot world, ask machines.ObserveOptions) tank { return snapshot[ask.Instance] },
			})
			in.Lifecycles = []lifecycle{in.Lifecycles[0], tanks.Evaluator(access.Key{})}
			step, err := pass.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			have := got{Released: step.Released, Decided: step.Decided}
			for _, lc := range step.Lifecycles {
				have.Shown = append(have.Shown, lc.Name())
			}
			if diff := cmp.Diff(tc.want, have); diff != "" {
				t.Errorf("step (-want +got):\n%s", diff)
			}
		})
	}
}
