package explore

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/detent-dev/detent/machines"
)

// Scenario gives access to one explored state: for the kind's Observe and Execute, and for the world. It must not be kept.
type Scenario struct {
	scheme *k8sruntime.Scheme
	ages   []time.Duration
	// main is the kind of the object whose lifecycles are explored.
	main  schema.GroupVersionKind
	state *state
	// term of the operator that reconciles.
	term uint32
}

func (at *Scenario) at(s *state) *Scenario {
	at.state = s
	return at
}

// Now returns the time of the state.
func (at *Scenario) Now() time.Time { return at.state.now }

// World returns the world of the state. The kind's effects modify it.
func (at *Scenario) World() World { return at.state.world }

// Restarted reports whether the operator's process has just started: what it had in memory is lost.
func (at *Scenario) Restarted() bool { return at.state.memory == nil }

// Age returns an age in relevant steps: how many of the Subject's Ages have been reached.
func (at *Scenario) Age(since time.Time) byte {
	for i, age := range at.ages {
		if at.state.now.Sub(since) < age {
			return byte(i)
		}
	}
	return byte(len(at.ages))
}

// RequestID returns the request ID that an effect of the lifecycle has now, to distinguish its answer from an older one.
func (at *Scenario) RequestID(lifecycle string) machines.RequestID {
	for _, r := range at.state.live {
		from, ok := r.Object.(lifecycled)
		if !ok || r.Kind != at.main {
			continue
		}
		status := from.LifecycleStatus()
		for i := range status.Lifecycles {
			if e := &status.Lifecycles[i]; e.Name == lifecycle {
				return machines.RequestIDOf(string(r.Object.GetUID()), lifecycle, e)
			}
		}
	}
	return machines.RequestID{}
}

// Wake enqueues the object, as the answer to a request does.
func (at *Scenario) Wake() { at.state.woken = true }

// Objects calls yield with every object of a kind that the API server stores. They must not be modified.
func (at *Scenario) Objects(kind string, yield func(client.Object)) {
	for _, r := range at.state.live {
		if r.Kind.Kind == kind {
			yield(r.Object)
		}
	}
}

// Client returns a client of the API server. It injects no faults.
func (at *Scenario) Client() client.Client {
	return &stateClient{scenario: at, live: true, calls: &calls{}, statusStored: func(client.Object, client.Object) {}}
}

// Try calls do with a copy of the state, and drops the copy afterwards.
func (at *Scenario) Try(do func()) {
	kept := at.state
	defer func() { at.state = kept }()
	at.state = kept.clone()
	do()
}

// Create stores an object, as another controller does.
func (at *Scenario) Create(object client.Object) {
	kind, err := apiutil.GVKForObject(object, at.scheme)
	if err != nil {
		panic(fmt.Errorf("creating %T in a world: %w", object, err))
	}
	at.state.create(kind, object, at.state.now)
}

// Update stores a changed copy of an object, as a kubelet does. A deleted object stays deleted.
func (at *Scenario) Update(object client.Object) {
	if r := at.record(object); r != nil {
		at.state.put(r, object)
	}
}

// Remove deletes an object at once.
func (at *Scenario) Remove(object client.Object) {
	if r := at.record(object); r != nil {
		at.state.remove(r)
	}
}

func (at *Scenario) record(object client.Object) *record {
	kind, err := apiutil.GVKForObject(object, at.scheme)
	if err != nil {
		panic(fmt.Errorf("finding %T in a world: %w", object, err))
	}
	return at.state.live.Find(kind, client.ObjectKeyFromObject(object))
}

// create stores a new object that was created at the time.
func (s *state) create(kind schema.GroupVersionKind, object client.Object, created time.Time) {
	object.SetUID(s.bornUID())
	object.SetGeneration(1)
	object.SetCreationTimestamp(metav1.NewTime(created.Truncate(time.Second)))
	s.put(&record{Kind: kind}, object)
}
