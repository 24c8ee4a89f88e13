package hello_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines/machinetest/explore"
)

// TestWhateverHappens lets everything go wrong that can: it is all that a machine of one's own takes to be explored.
func TestWhateverHappens(t *testing.T) {
	explore.Run(t, explore.Subject[*api.Greeting, *corev1.ConfigMap, hello.Speak]{
		Name: "hello", Kind: func(*explore.Site) (hello.Greeter, error) { return hello.Kind() },
		AddToScheme: []func(*k8sruntime.Scheme) error{corev1.AddToScheme, api.AddToScheme},
		Object:      readGreeting(t),
		Edits: []explore.Edit[*api.Greeting]{
			{Name: "asks for good day", Make: func(g *api.Greeting) { g.Spec.Text = "good day" }},
			{Name: "asks for hello", Make: func(g *api.Greeting) { g.Spec.Text = "hello, world" }},
		},
	}, explore.Options{})
}
