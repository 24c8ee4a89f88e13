package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// fillTimeout is how long a probe waits for the caches; kubelets wait a second by default.
const fillTimeout = 500 * time.Millisecond

// filling is the part of a cache that says whether it is filled.
type filling interface {
	WaitForCacheSync(ctx context.Context) bool
}

// cachesFilled fails while the manager has not started, and while a kind that it watches has not been listed: then it would
// take what it does not see for missing. A replica that stands by watches nothing yet.
func cachesFilled(c filling) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), fillTimeout)
		defer cancel()
		if !c.WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet: is the API server slow, or is a kind that is watched not served, or its list not permitted?")
		}
		return nil
	}
}

// leadership is what is known of the lease without asking for it: when it was last renewed.
type leadership struct {
	clock clock.PassiveClock
	// term is how long a lease lasts that is not renewed.
	term time.Duration

	mu      sync.Mutex
	renewed time.Time
}

func newLeadership(clk clock.PassiveClock, o Options) *leadership {
	l := &leadership{clock: clk, term: o.LeaseDuration}
	if l.term <= 0 {
		l.term = DefaultLeaseDuration
	}
	return l
}

// config of the client that elects. It writes the lease only to gain it, to renew it, or to give it back.
func (l *leadership) config(of *rest.Config) *rest.Config {
	c := rest.CopyConfig(of)
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return &renewals{next: next, of: l} })
	return c
}

// check fails for a leader whose lease has run out: another may lead by now. A replica that stands by is ready to take over.
func (l *leadership) check(elected <-chan struct{}) healthz.Checker {
	return func(*http.Request) error {
		select {
		case <-elected:
		default:
			return nil
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.clock.Since(l.renewed) > l.term {
			return fmt.Errorf("the lease could not be renewed since %s, and lasts %s: another replica may lead", l.renewed.UTC().Format(time.RFC3339), l.term)
		}
		return nil
	}
}

// renewals notes when a lease was written.
type renewals struct {
	next http.RoundTripper
	of   *leadership
}

// RoundTrip implements http.RoundTripper.
func (r *renewals) RoundTrip(request *http.Request) (*http.Response, error) {
	asked := r.of.clock.Now() // the lease runs from before the answer
	response, err := r.next.RoundTrip(request)
	writes := request.Method == http.MethodPut || request.Method == http.MethodPost
	if err == nil && writes && strings.Contains(request.URL.Path, "/leases") && response.StatusCode < http.StatusMultipleChoices {
		r.of.mu.Lock()
		r.of.renewed = asked
		r.of.mu.Unlock()
	}
	return response, err
}
