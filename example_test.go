package detent_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent"
	"github.com/detent-dev/detent/examples/hello/api"
)

// An operator is a machine, how its facts are observed, and how its effects are executed. This one writes the text of a greeting
// into a ConfigMap.
func ExampleOperator() {
	type facts struct{ Wanted, Spoken string }
	type speak struct{ Text string }
	spoken := detent.Is("spoken", "the wanted text in the ConfigMap", func(f *facts) (bool, string) { return f.Spoken == f.Wanted, f.Spoken })

	operator := detent.Operator[*api.Greeting, facts, speak]{
		Name: "Greeting", New: func() *api.Greeting { return &api.Greeting{} }, Owns: []client.Object{&corev1.ConfigMap{}},
		Machine: detent.Machine[facts, speak]{
			Name: "hello", Doc: "speaks the wanted text",
			States: []detent.State[facts, speak]{
				{State: detent.Rest("Settled", "the wanted text was spoken")},
				{
					State: detent.Work("Speaking", "the text is being spoken", time.Minute), Invariant: detent.Always[facts](), OnTargetChange: "Speaking",
					Action: detent.DoFrom(func(f *facts) []speak { return []speak{{f.Wanted}} }),
				},
			},
			Transitions: []detent.Transition[facts]{
				{Event: "text-changed", From: "Settled", To: "Speaking", NewAttempt: true, When: detent.Not(spoken, "another text"), Doc: "another text is wanted"},
				{Event: "heard", From: "Speaking", To: "Settled", Awaited: true, When: spoken},
			},
			Target: func(f *facts) detent.Target { return detent.Target{From: f.Spoken, To: f.Wanted} },
			Infer:  detent.StartIn[facts]("Settled"),
		},
		Observe: func(ctx context.Context, g *api.Greeting, read client.Reader) (facts, error) {
			said := &corev1.ConfigMap{}
			err := read.Get(ctx, client.ObjectKeyFromObject(g), said)
			return facts{g.Spec.Text, said.Data["text"]}, client.IgnoreNotFound(err)
		},
		Execute: func(ctx context.Context, g *api.Greeting, effect speak, write detent.Writer) error {
			return write.Apply(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: g.Name, Namespace: g.Namespace, Labels: map[string]string{"app.kubernetes.io/managed-by": "hello"}},
				Data:       map[string]string{"text": effect.Text},
			})
		},
	}
	// operator.SetupWithManager(mgr) registers it. Kind returns it for tests, exploration and everything else.
	kind, err := operator.Kind()
	fmt.Println(kind.Name, len(kind.Lifecycles), err)
	// Output: Greeting 1 <nil>
}
