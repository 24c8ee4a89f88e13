// Package proof tests a user's kind against every order of events and every fault: its Kind is declared once, explored in
// memory, and run with injected faults on a real API server. The packages below and docs/proof.md describe the proofs of
// Detent's own machines.
package proof

import (
	"testing"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/proof/campaign"
)

// Kind is a kind without external systems. A kind with external systems is passed to explore.Run and campaign.Run directly,
// with their world.
type Kind[O lifecycle.Object, S, E any] struct {
	// Name in the output.
	Name string
	// Make returns a new kind for each operator.
	Make func() (lifecycle.Kind[O, S, E], error)
	// Definitions is the directory of the generated definitions. AddToScheme adds the Go types.
	Definitions string
	AddToScheme func(*k8sruntime.Scheme) error
	// Object at the start. Changes are made by users: at any time during the exploration, and one after the other on the API
	// server, for which they should be similar to each other.
	Object  O
	Changes []explore.Edit[O]
	// Restored are the kinds of the children that must be created again after a loss, and RestoredWithin the number of reconciles
	// until then: see explore.Subject. Optional; default: none.
	Restored       []string
	RestoredWithin int
	// Plans is the minimum number of plans with one fault. Optional.
	Plans int
}

// Explore searches every order of events and faults in memory; see explore.Run.
func (k Kind[O, S, E]) Explore(t *testing.T) {
	t.Helper()
	explore.Run(t, explore.Subject[O, S, E]{
		Name: k.Name, Kind: func(*explore.Scenario) (lifecycle.Kind[O, S, E], error) { return k.Make() },
		AddToScheme: []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, k.AddToScheme},
		Object:      k.Object, Edits: k.Changes, Restored: k.Restored, RestoredWithin: k.RestoredWithin,
	}, explore.Options{})
}

// Inject injects every fault at every write and event of a change, on its own API server; see campaign.Run.
func (k Kind[O, S, E]) Inject(t *testing.T) {
	t.Helper()
	injected := campaign.Kind[O, S, E]{
		Name: k.Name, Make: k.Make, Definitions: k.Definitions, AddToScheme: k.AddToScheme, Object: k.Object, Plans: k.Plans,
	}
	for _, change := range k.Changes {
		injected.Changes = append(injected.Changes, change.Make)
	}
	campaign.Run(t, injected)
}
