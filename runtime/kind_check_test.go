package runtime_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
	"github.com/detent-dev/detent/transitions"
)

// named is a lifecycle of that name with up to that many instances; 1 means that it has none.
func named(t *testing.T, name string, instances int) turnstile.Lifecycle {
	t.Helper()
	always := transitions.Always[toyFacts, struct{}]()
	machine, err := machines.Compile(machines.Definition[toyFacts, struct{}, turnstile.Effect]{
		Name: "calm", Doc: "a toy", States: []toyState{{State: states.State{Name: "Here", Kind: states.Rest, Doc: "here"}}, {State: states.State{Name: "There", Kind: states.Rest, Doc: "there"}}},
		Transitions: []toyRow{{Event: "go", From: "Here", To: "There", When: always, Doc: "goes"}, {Event: "back", From: "There", To: "Here", When: always, Doc: "returns"}},
		Target:      func(*toyFacts) machines.Target { return machines.Target{} },
		Infer: machines.Inference[toyFacts, struct{}]{States: []string{"Here"}, Find: func(*toyFacts) (machines.InferredState[struct{}], transitions.Verdict) {
			return machines.InferredState[struct{}]{State: "Here"}, transitions.Allow()
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	binding := machines.Binding[*api.Turnstile, turnstile.Snapshot, toyFacts, turnstile.Effect, turnstile.Effect]{
		Name: name, Facts: func(*api.Turnstile, turnstile.Snapshot, machines.ObserveOptions) toyFacts { return toyFacts{} },
	}
	if instances > 1 {
		binding.Instances = func(*api.Turnstile, turnstile.Snapshot) ([]string, bool) { return nil, true }
		binding.MaxInstances = instances
	}
	return machines.Bind(machine, binding)
}

func TestKindValidate(t *testing.T) {
	const badName = `the name of lifecycle %q is the key of its entry in the status: name it in its Binding in kebab-case, with at most 64 characters`
	bad := func(name string) []string { return []string{strings.Replace(badName, "%q", `"`+name+`"`, 1)} }
	long := strings.Repeat("a", 64)
	for name, tc := range map[string]struct {
		names     []string
		instances int
		want      []string
	}{
		"names of their own":                         {names: []string{"version", "scale-down", long}},
		"one name for two":                           {names: []string{"version", "roll", "version"}, want: []string{"several lifecycles have the name version and would overwrite each other's entry: give each Binding another Name"}},
		"no name":                                    {names: []string{""}, want: bad("")},
		"a name that is an instance's":               {names: []string{"roll/a"}, want: bad("roll/a")},
		"a name with a capital":                      {names: []string{"Roll"}, want: bad("Roll")},
		"a name too long for the status":             {names: []string{long + "a"}, want: bad(long + "a")},
		"as many entries as the status has room for": {names: []string{"doors", "lamps"}, instances: 512},
		"more entries than the status has room for": {names: []string{"doors", "lamps"}, instances: 513, want: []string{
			"an object may have 1026 entries in status.lifecycles, and its schema permits 1024: declare a smaller MaxInstances in the Binding of its lifecycles"}},
		"several problems, all are named": {names: []string{"Roll", ""}, want: append(bad("Roll"), bad("")...)},
	} {
		t.Run(name, func(t *testing.T) {
			kind := turnstile.NewKind(nil, nil, nil)
			for _, name := range tc.names {
				kind.Lifecycles = append(kind.Lifecycles, named(t, name, tc.instances))
			}
			var got []string
			if err := kind.Validate(); err != nil {
				got = strings.Split(strings.TrimPrefix(err.Error(), "declaring kind "+kind.Name+": "), "\n")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if tc.want == nil {
				return
			}
			if err := lifecycle.New(kind, lifecycle.Options{}).SetupWithManager(nil, lifecycle.Wiring{}); err == nil {
				t.Error("SetupWithManager accepts it")
			}
		})
	}
}

// A field that is missing would be found by a nil pointer in the cluster.
func TestKindValidateFields(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*turnstile.Kind)
		want   []string
	}{
		"all are declared":                      {change: func(*turnstile.Kind) {}},
		"no functions":                          {change: func(k *turnstile.Kind) { k.New, k.Observe, k.Execute = nil, nil, nil }, want: []string{"New", "Observe", "Execute"}},
		"no name":                               {change: func(k *turnstile.Kind) { k.Name = "" }, want: []string{"Name"}},
		"no lifecycle":                          {change: func(k *turnstile.Kind) { k.Lifecycles = nil }, want: []string{"Lifecycles"}},
		"an action with records, and no home":   {change: func(k *turnstile.Kind) { k.Records = nil }, want: []string{"Records"}},
		"disruptions, and no availability":      {change: func(k *turnstile.Kind) { k.Availability = nil }, want: []string{"Availability"}},
		"neither disruptions nor availability":  {change: func(k *turnstile.Kind) { k.Disrupts, k.Availability = nil, nil }},
		"a lifecycle at rest needs no effects":  {change: func(k *turnstile.Kind) { k.Lifecycles, k.Execute = []turnstile.Lifecycle{named(t, "calm", 1)}, nil }},
		"a lifecycle without records, no home":  {change: func(k *turnstile.Kind) { k.Lifecycles, k.Records = []turnstile.Lifecycle{greedy(t)}, nil }},
		"an action of another lifecycle counts": {change: func(k *turnstile.Kind) { k.Lifecycles, k.Execute = append(k.Lifecycles, named(t, "calm", 1)), nil }, want: []string{"Execute"}},
	} {
		t.Run(name, func(t *testing.T) {
			lifecycles, err := turnstile.Lifecycles()
			if err != nil {
				t.Fatal(err)
			}
			kind := turnstile.NewKind(lifecycles, nil, nil)
			tc.change(&kind)
			var got []string
			if err := kind.Validate(); err != nil {
				for line := range strings.SplitSeq(err.Error(), "\n") {
					_, field, _ := strings.Cut(line, "it has no ")
					field, _, _ = strings.Cut(field, ",")
					got = append(got, field)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("missing fields (-want +got):\n%s", diff)
			}
		})
	}
}
