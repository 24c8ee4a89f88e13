package podset

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// backoffMin and backoffMax bound the pause after a pass that failed. A pod that is missing costs its cluster a node, so
	// that a quota that has room again, or an API server that is back, is noticed within backoffMax. The work queue's own
	// default doubles its pause up to 1,000 seconds.
	backoffMin, backoffMax = 200 * time.Millisecond, 15 * time.Second
)

// backoff is the rate limiter of a controller of StrimziPodSets.
func backoff() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](backoffMin, backoffMax)
}

// limited gives the options the rate limiter of this package, unless they name one.
func limited(options controller.Options) controller.Options {
	if options.RateLimiter == nil {
		options.RateLimiter = backoff()
	}
	return options
}
