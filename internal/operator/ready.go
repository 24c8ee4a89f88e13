package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// fillTimeout is how long a probe waits for the caches. The default timeout of a kubelet's probe is one second.
const fillTimeout = 500 * time.Millisecond

// filling is the part of a cache that reports whether it is synced.
type filling interface {
	WaitForCacheSync(ctx context.Context) bool
}

// cachesFilled fails until the manager has started and every watched kind has been listed: before that, the manager would treat
// objects that it has not listed as missing. A replica that is not the leader has no watches yet.
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

// config returns the configuration of the leader election's client. That client writes the lease only to acquire, renew or
// release it.
func (l *leadership) config(of *rest.Config) *rest.Config {
	c := rest.CopyConfig(of)
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return &renewals{next: next, of: l} })
	return c
}

// check fails for a leader whose lease has expired, because another replica may be the leader. A replica that is not the leader
// is ready to take over.
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

// renewals records when a lease was written.
type renewals struct {
	next http.RoundTripper
	of   *leadership
}

// RoundTrip implements http.RoundTripper.
func (r *renewals) RoundTrip(request *http.Request) (*http.Response, error) {
	asked := r.of.clock.Now() // the lease counts from before the response
	response, err := r.next.RoundTrip(request)
	writes := request.Method == http.MethodPut || request.Method == http.MethodPost
	if err == nil && writes && strings.Contains(request.URL.Path, "/leases") && response.StatusCode < http.StatusMultipleChoices {
		r.of.mu.Lock()
		r.of.renewed = asked
		r.of.mu.Unlock()
	}
	return response, err
}
