package plan

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/internal/resource"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
)

// Kind is what a plan needs of a kind: its controllers, and a simulation of the systems behind its objects.
type Kind struct {
	resource.Kind
	// Lifecycles are the graphs of the machines of the kind, by the names of their lifecycles. Required.
	Lifecycles map[string]machines.Graph
	// Timeless are the states of each machine, by its name, that time alone does not end: no guard of their transitions reads the
	// time. While nothing else can happen, a plan goes on at their deadlines without polling. Optional.
	Timeless map[string][]string
	// PauseAnnotations are those of the lifecycle.Kind. Optional.
	PauseAnnotations []string
	// ReadWorld reads the kind's sections of the World document. Required.
	ReadWorld func(d *Document) Section
	// Simulate makes a simulation for one plan. Required.
	Simulate func(e *Environment) (Simulation, error)
}

// Section is what a kind reads from the World document.
type Section interface {
	// Check reports invalid fields. objects are the names of the objects of the kind in the input. An error is a defect.
	Check(d *Document, objects []string) error
}

// Simulation is the simulated systems of a kind in one plan, and the controllers of the kind that run on them. It has a virtual
// time: everything happens in the calls of the plan.
type Simulation interface {
	// Drivers return the controllers and the parts of the simulated world, in the order in which they run at equal times: the
	// simulated world before its observers. One of them is the controller of the kind itself. It is called once.
	Drivers() []Driver
	// Prepare brings the systems to the state that the objects of the kind describe, at the beginning of the plan.
	Prepare(ctx context.Context, objects []lifecycle.Object) error
	// Advance moves the systems to a time.
	Advance(now time.Time)
	// Next returns the time of the next event of the systems, and false if there is none. Happen is called then.
	Next() (time.Time, bool)
	Happen()
	// Knows reports whether a version, which an attempt starts from, is a known one.
	Knows(version string) bool
}

// Driver runs one kind of job: a controller of the operator, or a part of the simulated world. There is one job for each object.
type Driver struct {
	// Of is the kind of the objects. Required.
	Of schema.GroupVersionKind
	// Operator is true if the writes of the driver are those of the operator. Restarts is true if it deletes pods to restart them.
	Operator, Restarts bool
	// All enqueues every object of a namespace for any write in that namespace. Otherwise the objects that are written are enqueued.
	All bool
	// OnWritesOnly leaves the objects of the input alone until they are written.
	OnWritesOnly bool
	// Run runs the job for one object. Required.
	Run func(ctx context.Context, name types.NamespacedName) (reconcile.Result, error)
}

// Reconciling returns the function of a driver that runs a controller.
func Reconciling(r reconcile.Reconciler) func(context.Context, types.NamespacedName) (reconcile.Result, error) {
	return func(ctx context.Context, name types.NamespacedName) (reconcile.Result, error) {
		return r.Reconcile(ctx, reconcile.Request{NamespacedName: name})
	}
}

// Environment is what the simulation of one kind runs in.
type Environment struct {
	// Begin is the beginning of the plan. Clock shows its current time.
	Begin time.Time
	Clock clock.PassiveClock
	// Store is the simulated API server, and Client a client of it.
	Store  *store.Store
	Client client.Client
	// Objects are those of the input, and Section what ReadWorld returned.
	Objects []client.Object
	Section Section
	// BadImages are images that cannot be pulled.
	BadImages []string
	// OperatorVersion and Journal as in Options.
	OperatorVersion string
	Journal         lifecycle.Journal

	engine *engine
	kind   *Kind
}

// Wake enqueues the objects of a kind that has a driver.
func (e *Environment) Wake(of schema.GroupVersionKind, at time.Time) {
	for i := range e.engine.drivers {
		if e.engine.drivers[i].Of == of {
			e.engine.wakeAll(i, "", at)
		}
	}
}

// Removed records that the simulated world has removed an object from the store.
func (e *Environment) Removed(o client.Object) {
	e.engine.written(store.Write{Verb: "delete", Object: o})
}

// Effect records an effect of an object on a system outside Kubernetes. words describe it to users.
func (e *Environment) Effect(of types.NamespacedName, system System, verb, target, words string) {
	now := e.engine.clock.now
	e.engine.changed = now
	if t := e.engine.recorder.tracks[subject{e.kind.Name, of}]; t != nil {
		e.engine.recorder.effect(t, Effect{System: system, Verb: verb, Target: target, words: words}, now)
	}
}

// Assume records an assumption about an object.
func (e *Environment) Assume(of types.NamespacedName, format string, args ...any) {
	e.engine.takenOf(subject{e.kind.Name, of}).add("", fmt.Sprintf(format, args...))
}

// AssumeOf records an assumption about one of the parts of an object. Parts with the same sentence share one assumption.
func (e *Environment) AssumeOf(of types.NamespacedName, sentence, part string) {
	e.engine.takenOf(subject{e.kind.Name, of}).add(part, sentence)
}

// subject identifies an object with lifecycles by its kind and name.
type subject struct {
	kind string
	types.NamespacedName
}
