package hello_test

import (
	"testing"

	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/test/proof"
)

// greetings is the complete input for the exploration and the fault campaign of a kind.
func greetings(t *testing.T) proof.Kind[*api.Greeting, hello.Facts, hello.Speak] {
	return proof.Kind[*api.Greeting, hello.Facts, hello.Speak]{
		Name: "hello", Make: hello.Operator.Kind, Definitions: "crd", AddToScheme: api.AddToScheme,
		Object: readGreeting(t), Plans: 42,
		// Its action creates it again, and so not while the status is refused or the target changes in every reconcile.
		Restored: []string{"ConfigMap"}, RestoredWithin: 40,
		Changes: []explore.Edit[*api.Greeting]{
			{Name: "asks for good day", Make: func(g *api.Greeting) { g.Spec.Text = "good day" }},
			{Name: "asks for good evening", Make: func(g *api.Greeting) { g.Spec.Text = "good evening" }},
			{Name: "asks for hello", Make: func(g *api.Greeting) { g.Spec.Text = "hello, world" }},
		},
	}
}

// TestExplore explores every order of events and failures, in memory.
func TestExplore(t *testing.T) { greetings(t).Explore(t) }

// TestCampaign injects every fault at every write and event, on a real API server.
func TestCampaign(t *testing.T) { greetings(t).Inject(t) }
