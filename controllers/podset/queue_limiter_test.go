package podset

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A pod that could not be made for hours, since a quota was full, is made within seconds of there being room.
func TestBackoffIsSeconds(t *testing.T) {
	limiter := limited(controller.Options{}).RateLimiter
	if limiter == nil {
		t.Fatal("no rate limiter: the work queue's own waits for up to 1,000 seconds")
	}
	var longest time.Duration
	for range 200 {
		longest = max(longest, limiter.When(reconcile.Request{}))
	}
	if want := 15 * time.Second; longest != want {
		t.Errorf("the longest pause is %s, want %s", longest, want)
	}
}

func TestLimitedKeepsTheRateLimiterOfTheOptions(t *testing.T) {
	own := backoff()
	if got := limited(controller.Options{RateLimiter: own}).RateLimiter; got != own {
		t.Errorf("rate limiter %v, want the one of the options", got)
	}
}
