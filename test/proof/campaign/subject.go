package campaign

import (
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Subject is a kind, and a change of one of its objects at which every fault strikes.
type Subject struct {
	// Name as the table shows it.
	Name string
	// Definitions of the kind and of what it needs; AddToScheme its Go types.
	Definitions func() ([]*apiextensionsv1.CustomResourceDefinition, error)
	AddToScheme []func(*k8sruntime.Scheme) error
	// Object of the namespace that is changed, as it is before; Companions are made before it.
	Object     func(namespace string) lifecycle.Object
	Companions func(namespace string) []client.Object
	// Changes are what a person does, one after the other, in a run each: the next begins where the one before has ended. They
	// must be so much alike that a fault can strike in any of them.
	Changes []func(lifecycle.Object)
	// Graphs of the machines by the names of their lifecycles.
	Graphs map[string]machines.Graph
	// Kinds of objects that the operator hears of, the object's own among them: an empty object each.
	Kinds []client.Object
	// Cache as the operator's manager configures it.
	Cache cache.Options
	// Scale of all declared times.
	Scale float64
	// World makes what lies outside the API server in a namespace.
	World func(a *Arena, namespace string) (World, error)
	// Meddling is what somebody else does to the objects of a namespace, by name. Optional.
	Meddling map[string]Meddling
	// Outages of the world outside. Optional.
	Outages []Outage
	// Within is how long a run may take, whatever happens. Default ten minutes, on a machine that does nothing but wait for itself.
	Within time.Duration
	// Plans is how many of one fault and three depths there are at least.
	Plans int
	// Patience is how long a run may stand still before it counts as lost: no time of a whole run could tell what hangs from a
	// machine that is busy. Default one minute.
	Patience time.Duration
}

// Meddling is what somebody does who should not.
type Meddling func(a *Arena, namespace string) error

// Passes are told of the passes over the object that is changed.
type Passes struct {
	// Begun is called in each pass, and Ended in each in which nothing was left to do.
	Begun, Ended func()
}

// World is what lies outside the API server in one namespace.
type World interface {
	// Register wires the operator. around wraps effects on other systems.
	Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error, passes Passes) error
	// Begin is called before each change, of a world at rest.
	Begin()
	// Lingers says what is still to be learned of an object that rests already, or nothing.
	Lingers(*Tape) string
	// Effects are those on other systems since it was last asked, in order.
	Effects() []string
	// Harm says what was wrong outside since it was last asked.
	Harm() []string
	// Judge says what was wrong in the history.
	Judge([]Event) []string
	// Close ends it.
	Close()
}
