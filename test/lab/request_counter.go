package lab

import (
	"maps"
	"net/http"
	"sync"
)

// RequestCounter counts the writes of an operator and keeps none of them, so that it can count those of an operator with a fleet.
// Safe for concurrent use.
type RequestCounter struct {
	mu     sync.Mutex
	writes map[string]int
}

// Wrap counts what goes through, as rest.Config.Wrap takes it. What fails on the way counts too: it may have arrived.
func (t *RequestCounter) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		if r := resourceOf(request); r.Writes() {
			t.count(r.String())
		}
		return next.RoundTrip(request)
	})
}

func (t *RequestCounter) count(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.writes == nil {
		t.writes = map[string]int{}
	}
	t.writes[what]++
}

// Writes so far, by verb and resource. Renewals of leases are none.
func (t *RequestCounter) Writes() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.writes)
}

// resourceOf is what a request is about, without its name: there are as many of those as objects.
func resourceOf(request *http.Request) Request {
	r := classifyPath(request)
	r.Name, r.Namespace = "", ""
	return r
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
