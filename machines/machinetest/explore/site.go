package explore

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/detent-dev/detent/machines"
)

// Site is one explored state as those who live in it see it: the kind's View and Perform, and the world. It must not be kept.
type Site struct {
	scheme *k8sruntime.Scheme
	ages   []time.Duration
	// main is the kind of the object whose lifecycles are explored.
	main  schema.GroupVersionKind
	state *state
	// term of the operator whose pass it is.
	term uint32
}

func (at *Site) at(s *state) *Site {
	at.state = s
	return at
}

// Now is the time of the state.
func (at *Site) Now() time.Time { return at.state.now }

// World of the state. What the kind's effects do to it, they do to it itself.
func (at *Site) World() World { return at.state.world }

// Age of something in steps that matter: how many of the Subject's Ages it has reached.
func (at *Site) Age(since time.Time) byte {
	for i, age := range at.ages {
		if at.state.now.Sub(since) < age {
			return byte(i)
		}
	}
	return byte(len(at.ages))
}

// Ticket that an effect of the lifecycle has now, to tell an answer to it from an older one.
func (at *Site) Ticket(lifecycle string) machines.Ticket {
	for _, r := range at.state.live {
		from, ok := r.object.(lifecycled)
		if !ok || r.kind != at.main {
			continue
		}
		status := from.LifecycleStatus()
		for i := range status.Lifecycles {
			if e := &status.Lifecycles[i]; e.Name == lifecycle {
				return machines.TicketOf(string(r.object.GetUID()), lifecycle, e)
			}
		}
	}
	return machines.Ticket{}
}

// Wake lets the operator take a pass, as an answer does that it awaits, or whatever it looks at again and again.
func (at *Site) Wake() { at.state.woken = true }

// Objects calls yield with every object of a kind that the API server holds. They must not be changed.
func (at *Site) Objects(kind string, yield func(client.Object)) {
	for _, r := range at.state.live {
		if r.kind.Kind == kind {
			yield(r.object)
		}
	}
}

// Create stores an object, as a controller other than the operator does.
func (at *Site) Create(object client.Object) {
	kind, err := apiutil.GVKForObject(object, at.scheme)
	if err != nil {
		panic(fmt.Errorf("creating %T in a world: %w", object, err))
	}
	at.state.create(kind, object)
}

// Update stores a changed copy of an object, as a kubelet does. What is gone stays gone.
func (at *Site) Update(object client.Object) {
	if r := at.record(object); r != nil {
		at.state.put(r, object)
	}
}

// Remove takes an object away at once.
func (at *Site) Remove(object client.Object) {
	if r := at.record(object); r != nil {
		at.state.remove(r)
	}
}

func (at *Site) record(object client.Object) *record {
	kind, err := apiutil.GVKForObject(object, at.scheme)
	if err != nil {
		panic(fmt.Errorf("finding %T in a world: %w", object, err))
	}
	return at.state.live.find(kind, client.ObjectKeyFromObject(object))
}

// create stores an object that is new.
func (s *state) create(kind schema.GroupVersionKind, object client.Object) {
	object.SetUID(s.bornUID())
	object.SetGeneration(1)
	object.SetCreationTimestamp(metav1.NewTime(s.now.Truncate(time.Second)))
	s.put(&record{kind: kind, version: 0}, object)
}

func notFound(kind schema.GroupVersionKind, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, name)
}
