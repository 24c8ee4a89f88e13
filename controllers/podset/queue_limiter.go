package podset

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// backoffMin and backoffMax bound the back-off after a failed reconcile. A missing pod leaves its cluster without a node, so
	// an increased quota or a recovered API server must be noticed within backoffMax. The work queue's default back-off doubles
	// up to 1,000 seconds.
	backoffMin, backoffMax = 200 * time.Millisecond, 15 * time.Second
)

// backoff returns the rate limiter of the StrimziPodSet controller.
func backoff() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](backoffMin, backoffMax)
}

// limited sets the rate limiter of this package unless the options have one.
func limited(options controller.Options) controller.Options {
	if options.RateLimiter == nil {
		options.RateLimiter = backoff()
	}
	return options
}
