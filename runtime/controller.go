package runtime

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// SetupWithManager registers the reconciler, after Validate of its kind. The runtime builds the controller, because a generation predicate on the object
// would drop the events of its own status writes.
func (r *Reconciler[O, S, E]) SetupWithManager(mgr ctrl.Manager, wiring Wiring) error {
	if wiring.Workers == 0 {
		wiring.Workers = 4
	}
	if err := r.kind.Validate(); err != nil {
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
	if err := r.watchChildren(mgr, b); err != nil {
		return err
	}
	if wiring.Watch != nil {
		wiring.Watch(b)
	}
	if err := b.Complete(continuing[O, S, E]{r}); err != nil {
		return fmt.Errorf("registering the controller of %s: %w", r.kind.Name, err)
	}
	return nil
}

func (r *Reconciler[O, S, E]) watchChildren(mgr ctrl.Manager, b *builder.Builder) error {
	if len(r.kind.Owns) == 0 {
		return nil
	}
	owner := r.kind.New()
	if _, err := apiutil.GVKForObject(owner, mgr.GetScheme()); err != nil {
		return fmt.Errorf("watching the children of kind %s: add the type to the manager's scheme: %w", r.kind.Name, err)
	}
	enqueue := handler.EnqueueRequestForOwner(mgr.GetScheme(), &knownMappings{RESTMapper: mgr.GetRESTMapper()}, owner, handler.OnlyControllerOwner())
	if r.kind.OwnerOf != nil {
		enqueue = handler.EnqueueRequestsFromMapFunc(r.kind.OwnerOf)
	}
	for _, child := range r.kind.Owns {
		if _, err := apiutil.GVKForObject(child, mgr.GetScheme()); err != nil {
			return fmt.Errorf("watching %T, which is in Owns of kind %s: add the type to the manager's scheme: %w", child, r.kind.Name, err)
		}
		b.Watches(child, enqueue)
	}
	return nil
}

// knownMappings keeps the mapping of each version that it was asked for: the handler of children asks for that of their owner at
// each event, to learn whether it has a namespace. A kind that is deleted and defined again with another scope needs a new process.
type knownMappings struct {
	meta.RESTMapper
	known sync.Map // of *meta.RESTMapping, by schema.GroupVersionKind
}

// RESTMapping implements meta.RESTMapper.
func (k *knownMappings) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) != 1 {
		return k.RESTMapper.RESTMapping(kind, versions...)
	}
	key := kind.WithVersion(versions[0])
	if known, ok := k.known.Load(key); ok {
		mapping, _ := known.(*meta.RESTMapping)
		return mapping, nil
	}
	mapping, err := k.RESTMapper.RESTMapping(kind, versions...)
	if err == nil {
		k.known.Store(key, mapping)
	}
	return mapping, err
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
