package integration

import (
	"context"
	"net/http"

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
	// Definitions of the kind and of the kinds that it needs.
	Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error)
	AddToScheme(*k8sruntime.Scheme) error
	// List is an empty list of the kind, Children an empty object of every kind of child.
	List() client.ObjectList
	Children() []client.Object
	Visits() []Visit
	// PauseAnnotations of the kind, beside that of the runtime.
	PauseAnnotations() []string
	// World returns a new world without faults.
	World() World
}

// Visit is a state in which an object can be kept.
type Visit struct {
	Lifecycle, State string
	// Wiped is true if the status must be emptied to reach the state.
	Wiped bool
	// HasData is true if the loss of the data can be detected in the state.
	HasData bool
	// Blind is true if a change of the target cannot be processed in the state, because facts are unknown.
	Blind bool
}

// String names the lifecycle and the state, for messages.
func (v Visit) String() string { return v.Lifecycle + "/" + v.State }

// Companioned is a World whose objects need other objects, which are created before them.
type Companioned interface {
	Companions(namespace, name string) []client.Object
}

// Reserved is a Subject on which some laws are not tested. It returns the reason of each, which the table shows.
type Reserved interface{ Reservations() map[string]string }

// Selective is a Subject some of whose states do not matter to some laws, which are not tested there.
type Selective interface{ Matters(law, state string) bool }

// Cleaner is a World that can lose the statuses of all objects that belong to an object.
type Cleaner interface{ Cleanup(key client.ObjectKey) }

// Lingering is a World in which a fact about an object at rest may still be pending. It returns which one, "" if none.
type Lingering interface {
	Lingers(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error)
}

// Scaled is a World with another time scale than the constant scale.
type Scaled interface{ Scale() float64 }

// Describing is a World that names the writes of its operators.
type Describing interface {
	Describe(request *http.Request, seen lab.Request) string
}

// Cached is a World whose operators need their own cache options.
type Cached interface{ Cache() cache.Options }

// World is the environment outside Kubernetes, and the actions of a user. An object is identified by its namespace and
// name.
type World interface {
	// Register registers the kind's controller.
	Register(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error) error
	// Make returns a new object with a first target.
	Make(namespace, name string) lifecycle.Object
	// Hinder keeps an object at rest from progressing beyond the visit; Change then changes its target.
	Hinder(v Visit, key client.ObjectKey)
	Change(v Visit, object lifecycle.Object)
	// Release removes the hindrance, and gives what a user has to give.
	Release(object lifecycle.Object)
	// Another changes the lifecycle to a target that it never had, and returns the name of the target, "" if it is unknown.
	Another(lifecycle string, object lifecycle.Object) (target string)
	// Effects of the object so far, given the executed writes: everything that must happen only once.
	Effects(key client.ObjectKey, writes []lab.Request) []string
	// End describes the final state, without names that differ from run to run.
	End(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error)
}
