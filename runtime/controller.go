package runtime

import (
	"fmt"
	"time"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/detent-dev/detent/states"
)

// Wiring configures how a Reconciler is registered with a manager.
type Wiring struct {
	// Workers is the number of objects that are reconciled concurrently. Optional; default: 4.
	Workers int
	// Wakeups enqueues objects for changes that no watch reports, such as the answers of pollers. Optional; default: none.
	Wakeups <-chan event.GenericEvent
	// Watch adds watches to the builder, in addition to those of Kind.Owns. It must not add predicates to the object's own watch:
	// the runtime relies on the events of its own status writes. Optional; default: none.
	Watch func(*builder.Builder)
	// SkipNameValidation permits several controllers of one name in a process, as tests need. Optional; default: false.
	SkipNameValidation bool
}

// Wakeups returns a channel for Wiring, and a function that enqueues the object of a name, for pollers. empty returns an empty object of
// the kind. The function drops the event if the channel is full: every waiting state polls too.
func Wakeups[O Object](empty func() O) (<-chan event.GenericEvent, func(types.NamespacedName)) {
	wakeups := make(chan event.GenericEvent, 1024)
	return wakeups, func(name types.NamespacedName) {
		object := empty()
		object.SetNamespace(name.Namespace)
		object.SetName(name.Name)
		select {
		case wakeups <- event.GenericEvent{Object: object}:
		default:
		}
	}
}

// maxEntries is the number of entries for which the schema of status.lifecycles has room.
const maxEntries = 1024

// checkEntries returns an error if an object may have more entries than the schema permits: the API server would refuse its status.
func (r *Reconciler[O, S, E]) checkEntries() error {
	sum := 0
	for _, lc := range r.lifecycles {
		sum += lc.MaxInstances()
	}
	if sum > maxEntries {
		return fmt.Errorf("an object of %s may have %d entries in status.lifecycles, and its schema permits %d: declare a smaller MaxInstances in the Binding of its lifecycles", r.kind.Name, sum, maxEntries)
	}
	return nil
}

// SetupWithManager registers the reconciler. The runtime builds the controller, because a generation predicate on the object
// would drop the events of its own status writes.
func (r *Reconciler[O, S, E]) SetupWithManager(mgr ctrl.Manager, wiring Wiring) error {
	if wiring.Workers == 0 {
		wiring.Workers = 4
	}
	if err := r.checkEntries(); err != nil {
		return err
	}
	b := ctrl.NewControllerManagedBy(mgr).For(r.kind.New()).WithOptions(controller.Options{
		MaxConcurrentReconciles: wiring.Workers,
		SkipNameValidation:      &wiring.SkipNameValidation,
		RateLimiter:             r.backoff(),
	})
	if wiring.Wakeups != nil {
		b = b.WatchesRawSource(source.Channel(wiring.Wakeups, &handler.EnqueueRequestForObject{}))
	}
	if err := r.watchChildren(mgr.GetScheme(), b); err != nil {
		return err
	}
	if wiring.Watch != nil {
		wiring.Watch(b)
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("registering the controller of %s: %w", r.kind.Name, err)
	}
	return nil
}

func (r *Reconciler[O, S, E]) watchChildren(scheme *k8sruntime.Scheme, b *builder.Builder) error {
	for _, child := range r.kind.Owns {
		if _, err := apiutil.GVKForObject(child, scheme); err != nil {
			return fmt.Errorf("watching %T, which is in Owns of kind %s: add the type to the manager's scheme: %w", child, r.kind.Name, err)
		}
		if r.kind.OwnerOf != nil {
			b.Watches(child, handler.EnqueueRequestsFromMapFunc(r.kind.OwnerOf))
		} else {
			b.Owns(child)
		}
	}
	return nil
}

// watched returns an error for a child whose changes would not enqueue its object.
func (r *Reconciler[O, S, E]) watched(child client.Object) error {
	scheme := r.children.client.Scheme()
	kind, err := apiutil.GVKForObject(child, scheme)
	if err != nil {
		return err
	}
	for _, declared := range r.kind.Owns {
		if owned, err := apiutil.GVKForObject(declared, scheme); err == nil && owned == kind {
			return nil
		}
	}
	return fmt.Errorf("kind %s does not watch %s, so that a change of it would not be noticed: add an empty %T to Kind.Owns", r.kind.Name, kind.Kind, child)
}

// backoff is the rate limiter of reconciles that failed as a whole, because the API server or the cache could not be read or
// written. The work queue's default delays an object for up to 15 minutes after the API server is reachable again.
func (r *Reconciler[O, S, E]) backoff() workqueue.TypedRateLimiter[reconcile.Request] {
	scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) * r.scale) }
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](scaled(states.DefaultBackoffMin), scaled(states.DefaultBackoffMax))
}
