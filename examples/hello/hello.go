// Package hello is the smallest machine on a custom resource: it writes a text into a ConfigMap. Cmd runs it.
package hello

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

type (
	facts struct{ Wanted, Spoken string }
	data  = struct{}
	// Speak is the only effect.
	Speak struct{ Text string }
	// Greeter observes one ConfigMap per greeting.
	Greeter = lifecycle.Kind[*api.Greeting, *corev1.ConfigMap, Speak]
	binding = machines.Binding[*api.Greeting, *corev1.ConfigMap, facts, Speak, Speak]
)

var spoken = transitions.Guard[facts, data]{
	Name: "spoken", Doc: "the text was spoken as it is wanted", Expected: "the wanted text in the ConfigMap",
	Evaluate: func(f *facts, _ data) transitions.Verdict { return transitions.If(f.Spoken == f.Wanted, f.Spoken) },
}

// Definition is the whole machine: Settled -> Speaking -> Settled.
var Definition = machines.Definition[facts, data, Speak]{
	Name: "hello", Doc: "speaks the wanted text",
	States: []machines.State[facts, data, Speak]{
		{State: states.State{Name: "Settled", Kind: states.Rest, Doc: "the wanted text was spoken"}},
		{State: states.State{Name: "Speaking", Kind: states.Work, Doc: "the text is being spoken", Deadline: time.Minute},
			Invariant: transitions.Always[facts, data](), OnTargetChange: "Speaking",
			Action: &machines.Action[facts, data, Speak]{Name: "speak", Doc: "writes the text", Effects: func(f *facts, _ data) []Speak { return []Speak{{f.Wanted}} }}},
	},
	Transitions: []machines.Transition[facts, data]{
		{Event: "text-changed", From: "Settled", To: "Speaking", NewAttempt: true, Doc: "another text is wanted", When: transitions.Not(spoken, "another text")},
		{Event: "heard", From: "Speaking", To: "Settled", Awaited: true, Doc: "the text was seen spoken", When: spoken},
	},
	Target: func(f *facts) machines.Target { return machines.Target{From: f.Spoken, To: f.Wanted} },
	Infer: machines.Inference[facts, data]{States: []string{"Settled"}, Find: func(*facts) (machines.InferredState[data], transitions.Verdict) {
		return machines.InferredState[data]{State: "Settled"}, transitions.Allow()
	}},
}

// Kind runs the machine on Greetings. Its snapshot is the ConfigMap with the name of the greeting.
func Kind() (Greeter, error) {
	machine, err := machines.Compile(Definition)
	return Greeter{
		Name: "Greeting", New: func() *api.Greeting { return &api.Greeting{} }, StatusEqual: func(_, _ *api.Greeting) bool { return true },
		Owns: []client.Object{&corev1.ConfigMap{}},
		Lifecycles: []machines.Lifecycle[*api.Greeting, *corev1.ConfigMap, Speak]{machines.Bind(machine, binding{
			Name: "hello", Effect: func(s Speak) Speak { return s },
			Facts: func(g *api.Greeting, heard *corev1.ConfigMap, _ machines.ObserveOptions) facts {
				return facts{g.Spec.Text, heard.Data["text"]}
			},
		})},
		Observe: func(ctx context.Context, g *api.Greeting, request lifecycle.ObserveRequest) (*corev1.ConfigMap, error) {
			heard := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: g.Name, Namespace: g.Namespace}}
			return heard, client.IgnoreNotFound(request.Read.Get(ctx, client.ObjectKeyFromObject(g), heard))
		},
		Execute: func(ctx context.Context, t lifecycle.EffectRequest[*api.Greeting, *corev1.ConfigMap, Speak]) error {
			said := t.Snapshot.DeepCopy()
			said.Data = map[string]string{"text": t.Effect.Text}
			if said.ResourceVersion != "" {
				return t.Write.Update(ctx, said)
			}
			if err := t.Write.Own(said); err != nil {
				return err
			}
			return t.Write.Create(ctx, said)
		},
	}, err
}
