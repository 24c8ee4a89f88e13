package explore_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// A toy is a machine that is correct, and incorrect with one of its layers disabled. Its object is a Greeting, whose text is
// the target; it has one ConfigMap; its effects are words. F are its facts.
type toy[F any] struct {
	definition machines.Definition[F, struct{}, string]
	// observe returns the facts from the object, its ConfigMap and the world.
	observe func(wanted string, child *corev1.ConfigMap, world explore.World) F
	// execute executes a word.
	execute func(ctx context.Context, at *explore.Scenario, t effectRequest) error
}

type effectRequest = lifecycle.EffectRequest[*api.Greeting, toyView, string]

// toyView is the snapshot of a toy: its ConfigMap, without a revision if there is none, and the world.
type toyView struct {
	child *corev1.ConfigMap
	world explore.World
}

type (
	toyKind    = lifecycle.Kind[*api.Greeting, toyView, string]
	toySubject = explore.Subject[*api.Greeting, toyView, string]
)

func (y *toy[F]) kind(at *explore.Scenario) (toyKind, error) {
	machine, err := machines.Compile(y.definition)
	if err != nil {
		return toyKind{}, err
	}
	return toyKind{
		Name: "Toy", New: func() *api.Greeting { return &api.Greeting{} }, StatusEqual: func(_, _ *api.Greeting) bool { return true },
		Lifecycles: []machines.Lifecycle[*api.Greeting, toyView, string]{
			machines.Bind(machine, machines.Binding[*api.Greeting, toyView, F, string, string]{
				Name: y.definition.Name,
				Facts: func(g *api.Greeting, v toyView, _ machines.ObserveOptions) F {
					return y.observe(g.Spec.Text, v.child, v.world)
				},
			}),
		},
		Observe: func(ctx context.Context, g *api.Greeting, evaluation lifecycle.ObserveRequest) (toyView, error) {
			child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: g.Namespace, Name: g.Name}}
			return toyView{child, at.World()}, client.IgnoreNotFound(evaluation.Read.Get(ctx, client.ObjectKeyFromObject(g), child))
		},
		Execute: func(ctx context.Context, t effectRequest) error { return y.execute(ctx, at, t) },
	}, nil
}

// subject returns the subject of a toy whose object has the text, in a world.
func (y *toy[F]) subject(wanted string, world explore.World) toySubject {
	return toySubject{
		Name: y.definition.Name, Kind: y.kind, AddToScheme: []func(*k8sruntime.Scheme) error{corev1.AddToScheme, api.AddToScheme},
		Object: &api.Greeting{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "toy"}, Spec: api.GreetingSpec{Text: wanted}}, World: world,
	}
}

// asks is an edit of the text.
func asks(text string) explore.Edit[*api.Greeting] {
	return explore.Edit[*api.Greeting]{Name: "asks for " + text, Make: func(g *api.Greeting) { g.Spec.Text = text }}
}

// place returns a toy's inference that always finds Settled: its transitions find what is under way.
func place[F any]() machines.Inference[F, struct{}] {
	return machines.Inference[F, struct{}]{States: []string{"Settled"}, Find: func(*F) (machines.InferredState[struct{}], transitions.Verdict) {
		return machines.InferredState[struct{}]{State: "Settled"}, transitions.Allow()
	}}
}

func rest[F any]() machines.State[F, struct{}, string] {
	return machines.State[F, struct{}, string]{State: states.State{Name: "Settled", Kind: states.Rest, Doc: "all is as it is wanted"}}
}

// works returns a state with one effect, whose precondition is evaluated live before; without a guard it relies on the cache.
func works[F any](name string, before transitions.Guard[F, struct{}], do func(*F) []string) machines.State[F, struct{}, string] {
	turn := "Settled"
	if before.IsZero() {
		turn = ""
	}
	return machines.State[F, struct{}, string]{
		State:     states.State{Name: name, Kind: states.Work, Doc: "does its work", Deadline: time.Minute, Poll: 5 * time.Second},
		Invariant: transitions.Always[F, struct{}](), OnTargetChange: machines.KeepAttempt,
		Action: &machines.Action[F, struct{}, string]{
			Name: "do-" + strings.ToLower(name), Doc: "does its work", Precondition: before, OnPreconditionFailed: turn, Effects: func(f *F, _ struct{}) []string { return do(f) },
		},
	}
}

func yes[F any](name string, ask func(*F) bool) transitions.Guard[F, struct{}] {
	return transitions.Guard[F, struct{}]{Name: name, Doc: name, Expected: name, Evaluate: func(f *F, _ struct{}) transitions.Verdict {
		return transitions.If(ask(f), "it is not so")
	}}
}

func edge[F any](event, from, to string, when transitions.Guard[F, struct{}]) machines.Transition[F, struct{}] {
	return machines.Transition[F, struct{}]{Event: event, From: from, To: to, When: when, Doc: event, NewAttempt: from == "Settled", Awaited: from != "Settled"}
}

// TestSeededToys disables one layer of a small machine. The search finds that by the oracle of the machine, and finds nothing
// without the defect.
//
//test:norace
func TestSeededToys(t *testing.T) {
	for name, c := range map[string]struct {
		found string
		of    func(seeded bool) toySubject
		// injected is a fault that must have occurred.
		injected explore.Fault
	}{
		"unregister before pod gone":                             {found: "is unregistered although its pod runs", of: leaving},
		"checkpoint before act":                                  {found: "shows as ready, and was never said", of: speaking},
		"kept offsets overwritten":                               {found: "the kept offsets are lost", of: moving},
		"annotation removed blindly":                             {found: "was taken away and never answered", of: answering},
		"no repair before a transition, and a refused status":    {found: "is not restored within 8 reconciles", of: keepingWhileRefused, injected: explore.StatusRefused},
		"no repair before a transition, and a target that flaps": {found: "is not restored within 8 reconciles", of: keepingWhileFlapping, injected: explore.Flaps},
		"no repair in some worlds":                               {found: "is not restored within 16 reconciles", of: keepingInPart, injected: explore.ChildLost},
		"transitions without a bound":                            {found: "takes more than 128 transitions without progress", of: unbounded, injected: explore.Flaps},
		"a slow pace that no condition shows":                    {found: "the status does not show that it is stalled", of: silent, injected: explore.Flaps},
		"an effect before its finalizer":                         {found: "the account outlives its object", of: releasing, injected: explore.Deleted},
	} {
		for _, seeded := range []bool{true, false} {
			title := name
			if !seeded {
				title = "without: " + name
			}
			t.Run(title, func(t *testing.T) {
				subject := c.of(seeded)
				subject.Without = append(subject.Without, explore.Overlaps, explore.PausedBy, explore.Unread) // not part of any of these stories
				report, err := explore.Explore(t.Context(), subject, explore.Options{States: 2000, Time: 5 * time.Minute, Until: c.found})
				switch {
				case err != nil:
					t.Fatal(err)
				case !seeded && len(report.Violations) > 0:
					t.Errorf("%s, %v", report, report.Violations)
				case c.injected != "" && report.Faults[c.injected] == 0:
					t.Errorf("%q never happened: %s", c.injected, report)
				case seeded && !slices.ContainsFunc(report.Violations, func(v explore.Violation) bool { return strings.Contains(v.What, c.found) }):
					t.Errorf("nothing says %q: %s, %v", c.found, report, report.Violations)
				case seeded:
					t.Logf("found after %d states:\n%s", report.Expanded, report.Violations[len(report.Violations)-1])
				}
			})
		}
	}
}
