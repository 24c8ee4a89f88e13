package campaign_test

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/proof/campaign"
)

const greeting = "greeting"

// helloSubject is a greeting that is to say something else.
func helloSubject(bug func(*hello.Greeter)) (*campaign.Subject, error) {
	kind, err := hello.Kind()
	if err != nil {
		return nil, err
	}
	var changes []change
	for i := range 8 {
		changes = append(changes, func(o lifecycle.Object) {
			if g, ok := o.(*api.Greeting); ok {
				g.Spec.Text = fmt.Sprintf("hello for the %d. time", i+2)
			}
		})
	}
	return &campaign.Subject{
		Name: "hello", Definitions: helloDefinitions, AddToScheme: []func(*k8sruntime.Scheme) error{api.AddToScheme},
		Object: func(namespace string) lifecycle.Object {
			return &api.Greeting{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: greeting}, Spec: api.GreetingSpec{Text: "hello"}}
		},
		Changes: changes, Graphs: map[string]machines.Graph{"hello": kind.Lifecycles[0].Graph()},
		Kinds: []client.Object{&api.Greeting{}, &corev1.ConfigMap{}}, Scale: 0.1,
		World:    func(*campaign.Arena, string) (campaign.World, error) { return silence{bug}, nil },
		Meddling: map[string]campaign.Meddling{"its ConfigMap overwritten": overwrite, "its status wiped": wipe},
	}, nil
}

func helloDefinitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile("../../../examples/hello/crd/hello.example.org_greetings.yaml")
	if err != nil {
		return nil, err
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	return []*apiextensionsv1.CustomResourceDefinition{definition}, yaml.UnmarshalStrict(text, definition)
}

// overwrite what a greeting says.
func overwrite(a *campaign.Arena, namespace string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		said := &corev1.ConfigMap{}
		if err := a.Admin.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: greeting}, said); err != nil {
			return err
		}
		said.Data = map[string]string{"text": "something that nobody wants"}
		return a.Admin.Update(context.Background(), said)
	})
}

// wipe the status of a greeting.
func wipe(a *campaign.Arena, namespace string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		g := &api.Greeting{}
		if err := a.Admin.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: greeting}, g); err != nil {
			return err
		}
		*g.LifecycleStatus() = lifecyclev1.Status{}
		return a.Admin.Status().Update(context.Background(), g)
	})
}

// silence is a world without anything outside the API server.
type silence struct{ bug func(*hello.Greeter) }

// Register wires the kind as its own command does.
func (s silence) Register(mgr ctrl.Manager, options lifecycle.Options, _ func(string, func() error) error, passed func()) error {
	kind, err := hello.Kind()
	if err != nil {
		return err
	}
	look := kind.View
	kind.View = func(ctx context.Context, g *api.Greeting, viewing lifecycle.Viewing) (*corev1.ConfigMap, error) {
		passed()
		return look(ctx, g, viewing)
	}
	if s.bug != nil {
		s.bug(&kind)
	}
	return lifecycle.New(kind, options).SetupWithManager(mgr, lifecycle.Wiring{
		SkipNameValidation: true, Watch: func(b *builder.Builder) { b.Owns(&corev1.ConfigMap{}) },
	})
}

// Lingers implements campaign.World.
func (silence) Lingers(*campaign.Tape) string { return "" }

// Effects implements campaign.World.
func (silence) Effects() []string { return nil }

// Harm implements campaign.World.
func (silence) Harm() []string { return nil }

// Judge says whether the greeting ever showed as ready with another text than the one wanted.
func (silence) Judge(history []campaign.Event) []string {
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

// Close implements campaign.World.
func (silence) Close() {}
