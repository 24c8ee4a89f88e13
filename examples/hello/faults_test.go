package hello_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/test/proof/campaign"
)

// TestEveryFault lets every fault strike at every write and event of a change, on a real API server: it is all that a machine of
// one's own takes for it.
func TestEveryFault(t *testing.T) {
	campaign.Run(t, campaign.Kind[*api.Greeting, *corev1.ConfigMap, hello.Speak]{
		Name: "hello", Make: hello.Kind, Definitions: "crd", AddToScheme: api.AddToScheme, Owns: []client.Object{&corev1.ConfigMap{}},
		Object: readGreeting(t),
		Changes: []func(*api.Greeting){
			func(g *api.Greeting) { g.Spec.Text = "good day" },
			func(g *api.Greeting) { g.Spec.Text = "good evening" },
			func(g *api.Greeting) { g.Spec.Text = "good night" },
		},
		Plans: 42,
	})
}
