package integration

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
)

// Subject is a kind whose machines must keep the laws. Every declared state of its machines needs a Visit.
type Subject interface {
	// Name of the kind, in lower case.
	Name() string
	// Graphs of its machines by the names of their lifecycles.
	Graphs() map[string]machines.Graph
	// Definitions of the kind and of what it needs.
	Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error)
	AddToScheme(*k8sruntime.Scheme) error
	// List is an empty list of the kind, Children an empty object of every kind of child.
	List() client.ObjectList
	Children() []client.Object
	Visits() []Visit
	// World makes a new world in which everything works.
	World() World
}

// Visit is a state in which an object can be kept.
type Visit struct {
	Lifecycle, State string
	// Wiped says that the status must be emptied to get there.
	Wiped bool
	// HasMemo says that losing the memo there can be noticed.
	HasMemo bool
	// Blind says that what is wanted cannot be acted upon there, since too little is known.
	Blind bool
}

// Name is fit for an object.
func (v Visit) String() string { return v.Lifecycle + "/" + v.State }

// Companioned is a World whose objects need others, which are made before them.
type Companioned interface {
	Companions(namespace, name string) []client.Object
}

// Reserved is a Subject on which some laws are not shown here. It says of each why; the table says it too.
type Reserved interface{ Reservations() map[string]string }

// Forgetful is a World that can lose the statuses of everything that belongs to an object.
type Forgetful interface{ Forget(key client.ObjectKey) }

// Lingering is a World in which something is still to be learned of an object that rests already. It says what, or nothing.
type Lingering interface {
	Lingers(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error)
}

// Scaled is a World that takes another time than scale says.
type Scaled interface{ Scale() float64 }

// Cached is a World whose operators have caches of their own kind.
type Cached interface{ Cache() cache.Options }

// World is what lies outside Kubernetes, and what a person does. An object is known by its namespace and name.
type World interface {
	// Register wires the kind's controller.
	Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error) error
	// Make is a new object that wants something for the first time.
	Make(namespace, name string) lifecycle.Object
	// Hinder keeps an object that rests from getting further than the visit; Change then wants something else.
	Hinder(v Visit, key client.ObjectKey)
	Change(v Visit, object lifecycle.Object)
	// Release lets the object get on, and gives what a person has to give.
	Release(object lifecycle.Object)
	// Another wants something of the lifecycle that was never wanted before, and says what its target is called, if it can.
	Another(lifecycle string, object lifecycle.Object) (target string)
	// Effects of the object so far, given the writes that were carried out: everything that should happen just once.
	Effects(key client.ObjectKey, writes []lab.Request) []string
	// End describes what there is in the end, without names that differ from run to run.
	End(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error)
}
