package runtime

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/internal/access"
)

// continuing reconciles an object twice if the first reconcile commits transitions: the second one, which runs the action of the
// entered state, starts from the object that the API server returned for the commit, and does not wait for the cache to show it.
//
// Nothing else differs from two reconciles: the second one observes, decides and proves by itself, after the commit. It is what the
// runtime would do if the cache had shown the write at once and the children as they are. If the commit fails, there is no second one.
type continuing[O Object, S, E any] struct{ *Reconciler[O, S, E] }

// Reconcile implements reconcile.Reconciler.
func (c continuing[O, S, E]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	p, result, err := c.reconcile(ctx, request)
	if err != nil || p == nil || !p.committed {
		return result, err
	}
	p.stored.SetManagedFields(nil) // as in a cache without them
	return c.scopeOf(ctx, p.stored).reconcile(ctx)
}

// Continuing returns the reconciler that SetupWithManager registers, for the exploration.
func (r *Reconciler[O, S, E]) Continuing(access.Key) reconcile.Reconciler {
	return continuing[O, S, E]{r}
}
