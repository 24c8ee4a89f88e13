// Package proof lets everything go wrong for a kind of one's own that can: its Kind is declared once, explored in memory, and struck
// by faults on a real API server. What is proved of Detent's own machines, and how, stands in the packages below and in
// docs/proof.md.
package proof

import (
	"testing"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/proof/campaign"
)

// Kind is a kind that needs nothing but the API server. One that acts upon something else as well is described to explore.Run and
// campaign.Run themselves, with that world.
type Kind[O lifecycle.Object, V, E any] struct {
	// Name in what is printed.
	Name string
	// Make the kind, anew for each operator.
	Make func() (lifecycle.Kind[O, V, E], error)
	// Definitions is the directory with the generated definitions; AddToScheme adds the Go types.
	Definitions string
	AddToScheme func(*k8sruntime.Scheme) error
	// Owns are the kinds of its children: an empty object each.
	Owns []client.Object
	// Object at the beginning. Changes are what a person does: at any time while it is explored, and one after the other on the
	// API server, for which they should be much alike.
	Object  O
	Changes []explore.Edit[O]
	// Plans is how many of one fault there are at least. Optional.
	Plans int
}

// Explore searches all that may happen, in memory: see explore.Run.
func (k Kind[O, V, E]) Explore(t *testing.T) {
	t.Helper()
	explore.Run(t, explore.Subject[O, V, E]{
		Name: k.Name, Kind: func(*explore.Site) (lifecycle.Kind[O, V, E], error) { return k.Make() },
		AddToScheme: []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, k.AddToScheme},
		Object:      k.Object, Edits: k.Changes,
	}, explore.Options{})
}

// Strike lets every fault strike at every write and event of a change, on an API server of its own: see campaign.Run.
func (k Kind[O, V, E]) Strike(t *testing.T) {
	t.Helper()
	struck := campaign.Kind[O, V, E]{
		Name: k.Name, Make: k.Make, Definitions: k.Definitions, AddToScheme: k.AddToScheme, Owns: k.Owns, Object: k.Object, Plans: k.Plans,
	}
	for _, change := range k.Changes {
		struck.Changes = append(struck.Changes, change.Make)
	}
	campaign.Run(t, struck)
}
