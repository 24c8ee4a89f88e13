package runtime

import (
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/detent-dev/detent/states"
)

// Wiring of a Reconciler to a manager.
type Wiring struct {
	// Workers that reconcile different objects at once. Default 4.
	Workers int
	// Wakeups enqueue objects for what no watch sees: the answers of pollers. Optional.
	Wakeups <-chan event.GenericEvent
	// Watch adds watches of children. It may not add predicates to the object itself: the runtime is woken by its own
	// status writes. Optional.
	Watch func(*builder.Builder)
	// SkipNameValidation lets several managers with the same controllers live in one process, as tests do.
	SkipNameValidation bool
}

// SetupWithManager registers the reconciler. The runtime builds its controller itself, since a predicate on generations
// would drop the wake-up by its own status writes.
func (r *Reconciler[O, V, E]) SetupWithManager(mgr ctrl.Manager, wiring Wiring) error {
	if wiring.Workers == 0 {
		wiring.Workers = 4
	}
	b := ctrl.NewControllerManagedBy(mgr).For(r.kind.New()).WithOptions(controller.Options{
		MaxConcurrentReconciles: wiring.Workers,
		SkipNameValidation:      &wiring.SkipNameValidation,
		RateLimiter:             r.backoff(),
	})
	if wiring.Wakeups != nil {
		b = b.WatchesRawSource(source.Channel(wiring.Wakeups, &handler.EnqueueRequestForObject{}))
	}
	if wiring.Watch != nil {
		wiring.Watch(b)
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("registering the controller of %s: %w", r.kind.Name, err)
	}
	return nil
}

// backoff of passes that failed as a whole, since the API server or the cache could not be read or written. The work queue's
// own default leaves an object alone for up to a quarter of an hour after the API server is back.
func (r *Reconciler[O, V, E]) backoff() workqueue.TypedRateLimiter[reconcile.Request] {
	scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) * r.scale) }
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](scaled(states.DefaultBackoffMin), scaled(states.DefaultBackoffMax))
}
