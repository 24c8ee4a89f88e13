package campaign_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/proof/campaign"
)

const greeting = "greeting"

type greeter = lifecycle.Kind[*api.Greeting, hello.Facts, hello.Speak]

// helloSubject is a greeting whose text changes.
func helloSubject(bug func(*greeter)) (*campaign.Subject, error) {
	var changes []func(*api.Greeting)
	for i := range 8 {
		changes = append(changes, func(g *api.Greeting) { g.Spec.Text = fmt.Sprintf("hello for the %d. time", i+2) })
	}
	return campaign.Kind[*api.Greeting, hello.Facts, hello.Speak]{
		Name: "hello", Definitions: "../../../examples/hello/crd", AddToScheme: api.AddToScheme,
		Make: func() (greeter, error) {
			kind, err := hello.Operator.Kind()
			if bug != nil {
				bug(&kind)
			}
			return kind, err
		},
		Object:   &api.Greeting{ObjectMeta: metav1.ObjectMeta{Name: greeting}, Spec: api.GreetingSpec{Text: "hello"}},
		Changes:  changes,
		Meddling: map[string]campaign.Meddling{"its ConfigMap overwritten": overwrite}, Judge: lies,
	}.Subject()
}

// overwrite changes the text in the ConfigMap of a greeting.
func overwrite(a *campaign.Environment, namespace string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		said := &corev1.ConfigMap{}
		if err := a.Admin.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: greeting}, said); err != nil {
			return err
		}
		said.Data = map[string]string{"text": "something that nobody wants"}
		return a.Admin.Update(context.Background(), said)
	})
}

// lies returns when the greeting was Ready with another text than that of its spec.
func lies(history []campaign.Event) []string {
	var out []string
	said := ""
	for _, e := range history {
		switch o := e.Object.(type) {
		case *corev1.ConfigMap:
			said = o.Data["text"]
		case *api.Greeting:
			if said != "" && isCurrentlyReady(o) && o.Spec.Text != said && said != "something that nobody wants" {
				out = append(out, fmt.Sprintf("at revision %d the greeting showed as ready and had said %q instead of %q", e.Revision, said, o.Spec.Text))
			}
		}
	}
	return out
}
