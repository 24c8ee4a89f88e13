package plan

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
)

// simulated is the simulation of one kind and the position of its first job. The job with the number of the simulation is its next
// event; the jobs of its drivers follow after those of all simulations.
type simulated struct {
	Simulation
	kind *Kind
}

// assemble makes the simulations of the kinds, with their drivers.
func (e *engine) assemble(o Options) error {
	for i := range e.in.kinds {
		k := &e.in.kinds[i]
		s, err := k.Simulate(&Environment{
			Begin: e.begin, Clock: e.clock, Store: e.store, Client: e.client, Objects: e.in.Objects, Section: e.in.World.Sections[k.Name],
			BadImages: e.in.World.Kubernetes.BadImages, OperatorVersion: o.OperatorVersion, Journal: o.Journal, engine: e, kind: k,
		})
		if err != nil {
			return err
		}
		e.simulations = append(e.simulations, simulated{s, k})
		e.drivers = append(e.drivers, s.Drivers()...)
	}
	return nil
}

// wake enqueues the jobs of a driver that watch the written object.
func (e *engine) wake(i int, w store.Write, at time.Time) {
	switch d := &e.drivers[i]; {
	case d.All:
		e.wakeAll(i, w.Object.GetNamespace(), at)
	case e.kindOf(w.Object) == d.Of.Kind:
		e.queue.at(job{driver: i, name: client.ObjectKeyFromObject(w.Object)}, at)
	}
}

// wakeAll enqueues all objects of a driver in a namespace. An empty namespace means all.
func (e *engine) wakeAll(i int, namespace string, at time.Time) {
	e.store.Objects(e.drivers[i].Of, func(o client.Object) {
		if namespace == "" || o.GetNamespace() == namespace {
			e.queue.at(job{driver: i, name: client.ObjectKeyFromObject(o)}, at)
		}
	})
}

// expectWorld enqueues the next event of the simulated systems.
func (e *engine) expectWorld() {
	for i, s := range e.simulations {
		if at, ok := s.Next(); ok {
			if at.Before(e.clock.now) {
				at = e.clock.now
			}
			e.queue.at(job{driver: i - len(e.simulations)}, at)
		}
	}
}

// isOwn reports whether a driver is the controller of the kind of an object.
func (e *engine) isOwn(d *Driver, kind string) bool { return d.Operator && d.Of.Kind == kind }

// objects lists the objects with lifecycles, by kind, then by name.
func (e *engine) objects() []found {
	var out []found
	for i := range e.in.kinds {
		k := &e.in.kinds[i]
		gvk, err := e.client.GroupVersionKindFor(k.Object)
		if err != nil { // the scheme was made from the kinds
			continue
		}
		e.store.Objects(gvk, func(o client.Object) {
			if object, ok := o.(lifecycle.Object); ok {
				out = append(out, found{object, k})
			}
		})
	}
	return out
}

// found is an object with lifecycles and its kind.
type found struct {
	lifecycle.Object
	kind *Kind
}

func (f found) subject() subject { return subject{f.kind.Name, client.ObjectKeyFromObject(f.Object)} }

func (f found) paused() bool { return lifecycle.IsPaused(f.Object, f.kind.PauseAnnotations...) }

// copied returns a copy that later writes do not change.
func (f found) copied() found {
	if object, ok := f.DeepCopyObject().(lifecycle.Object); ok {
		f.Object = object
	}
	return f
}
