// Package hello is a complete operator on a custom resource: it writes a text into a ConfigMap. Cmd runs it.
package hello

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent"
	"github.com/detent-dev/detent/examples/hello/api"
)

// Facts are observed: the text of the greeting, and the text in the ConfigMap of its name.
type Facts struct{ Wanted, Spoken string }

// Speak is the only effect: it writes the text.
type Speak struct{ Text string }

var spoken = detent.Is("spoken", "the wanted text in the ConfigMap", func(f *Facts) (bool, string) { return f.Spoken == f.Wanted, f.Spoken })

// Machine is the whole lifecycle: Settled -> Speaking -> Settled.
var Machine = detent.Machine[Facts, Speak]{
	Name: "hello", Doc: "speaks the wanted text",
	States: []detent.State[Facts, Speak]{
		{State: detent.Rest("Settled", "the wanted text was spoken")},
		{
			State: detent.Work("Speaking", "the text is being spoken", time.Minute), Invariant: detent.Always[Facts](), OnTargetChange: "Speaking",
			Action: detent.DoFrom(func(f *Facts) []Speak { return []Speak{{f.Wanted}} }),
		},
	},
	Transitions: []detent.Transition[Facts]{
		{Event: "text-changed", From: "Settled", To: "Speaking", NewAttempt: true, When: detent.Not(spoken, "another text"), Doc: "another text is wanted"},
		{Event: "heard", From: "Speaking", To: "Settled", Awaited: true, When: spoken},
	},
	Target: func(f *Facts) detent.Target { return detent.Target{From: f.Spoken, To: f.Wanted} },
	Infer:  detent.StartIn[Facts]("Settled"),
}

// Operator runs the machine on greetings.
var Operator = detent.Operator[*api.Greeting, Facts, Speak]{
	Name: "Greeting", New: func() *api.Greeting { return &api.Greeting{} }, Machine: Machine, Owns: []client.Object{&corev1.ConfigMap{}},
	Observe: func(ctx context.Context, g *api.Greeting, read client.Reader) (Facts, error) {
		said := &corev1.ConfigMap{}
		err := read.Get(ctx, client.ObjectKeyFromObject(g), said)
		return Facts{g.Spec.Text, said.Data["text"]}, client.IgnoreNotFound(err)
	},
	Execute: func(ctx context.Context, g *api.Greeting, speak Speak, write detent.Writer) error {
		return write.Apply(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: g.Name, Namespace: g.Namespace, Labels: map[string]string{"app.kubernetes.io/managed-by": "hello"}},
			Data:       map[string]string{"text": speak.Text},
		})
	},
}
