package campaign

import (
	"regexp"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Subject is a kind with changes of one of its objects, during which every fault is injected.
type Subject struct {
	// Name in the table.
	Name string
	// Definitions of the kind and of the kinds that it needs. AddToScheme adds the Go types.
	Definitions func() ([]*apiextensionsv1.CustomResourceDefinition, error)
	AddToScheme []func(*k8sruntime.Scheme) error
	// Object returns the object of the namespace before the changes. Companions are created before it.
	Object     func(namespace string) lifecycle.Object
	Companions func(namespace string) []client.Object
	// Changes are made by a user, one in each run: the next one starts where the previous one ended. They must be so similar
	// that a fault can be injected into any of them.
	Changes []func(client.Object)
	// Edited returns the object that the changes edit, by its name. Optional; default: the object itself. The world's Lingers must
	// report a companion until the operator has acted on its generation.
	Edited func(namespace string) client.Object
	// Graphs of the machines by the names of their lifecycles.
	Graphs map[string]machines.Graph
	// Kinds of objects that the operator watches, including the object's: an empty object each.
	Kinds []client.Object
	// Masked matches texts in objects, including keys, that differ between runs with the same result, such as a digest of a UID. Optional;
	// default: none but digests of the namespace's name.
	Masked *regexp.Regexp
	// Incidental matches the kind and the name of objects that differ between runs with the same result and are not compared. Optional;
	// default: none.
	Incidental *regexp.Regexp
	// Cache options of the operator's manager.
	Cache cache.Options
	// Scale of all declared times.
	Scale float64
	// World returns the external systems of a namespace.
	World func(a *Environment, namespace string) (World, error)
	// Meddling are interventions of another writer in a namespace, by name. Optional.
	Meddling map[string]Meddling
	// Outages of external systems. Optional.
	Outages []Outage
	// Within limits the duration of a run. Optional; default: ten minutes, for a machine with no other load.
	Within time.Duration
	// Plans is the minimum number of plans with one fault and three depths.
	Plans int
	// Sample is the number of plans of an ordinary sample, all of the first change. Optional; default: one of each class, of two changes.
	Sample int
	// Patience is the time without an event after which a run counts as lost: the duration of a whole run cannot distinguish a
	// run that hangs from a busy machine. Optional; default: one minute.
	Patience time.Duration
}

// Meddling is an intervention of another writer in a namespace.
type Meddling func(a *Environment, namespace string) error

// Passes counts the reconciles of the object that is changed.
type Passes struct {
	// Begun is called in each reconcile, and Ended in each after which nothing is left to do. A change is made after the first Ended.
	Begun, Ended func()
}

// World contains the external systems of one namespace.
type World interface {
	// Register wires the operator. around wraps effects on external systems.
	Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error, passes Passes) error
	// Begin is called before each change, with the world at rest.
	Begin()
	// Lingers returns what is not observed yet of an object that already rests, or an empty string.
	Lingers(*WatchRecorder) string
	// Effects returns the effects on external systems since the last call, in order.
	Effects() []string
	// Harm returns the defects outside the API since the last call.
	Harm() []string
	// Judge returns the defects in the history.
	Judge([]Event) []string
	// Close stops the world.
	Close()
}
