package operator

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

// probe is what a kubelet sends.
func probe(t *testing.T) *http.Request {
	t.Helper()
	return httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody)
}

type filled bool

func (f filled) WaitForCacheSync(ctx context.Context) bool {
	if !f {
		<-ctx.Done()
	}
	return bool(f)
}

func TestCachesFilled(t *testing.T) {
	if err := cachesFilled(filled(true))(probe(t)); err != nil {
		t.Errorf("filled caches: %v", err)
	}
	if err := cachesFilled(filled(false))(probe(t)); err == nil || !strings.Contains(err.Error(), "caches are not filled") {
		t.Errorf("caches that are being filled: %v", err)
	}
}

func TestLeadershipCheckFailsAfterTheLease(t *testing.T) {
	code := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	defer server.Close()
	clk := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	lead := newLeadership(clk, Options{LeaseDuration: 15 * time.Second})
	c, err := rest.HTTPClientFor(lead.config(&rest.Config{Host: server.URL}))
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, path string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := c.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	const lease = "/apis/coordination.k8s.io/v1/namespaces/detent-system/leases/detent-manager"
	elected := make(chan struct{})
	check := lead.check(elected)
	ready := func(name string, want bool) {
		t.Helper()
		if err := check(probe(t)); (err == nil) != want {
			t.Errorf("%s: %v, want ready: %v", name, err, want)
		}
	}
	ready("a replica that stands by", true)
	send(http.MethodPost, strings.TrimSuffix(lease, "/detent-manager"))
	close(elected)
	ready("a new leader", true)
	clk.SetTime(clk.Now().Add(14 * time.Second))
	ready("before the lease ends", true)
	send(http.MethodPut, lease)
	clk.SetTime(clk.Now().Add(14 * time.Second))
	ready("after a renewal", true)
	code = http.StatusConflict
	send(http.MethodPut, lease)
	send(http.MethodGet, lease)
	code = http.StatusCreated
	send(http.MethodPost, "/apis/events.k8s.io/v1/namespaces/detent-system/events")
	clk.SetTime(clk.Now().Add(2 * time.Second))
	ready("after a renewal that was refused, a look at the lease, and an event", false)
	send(http.MethodPut, lease)
	ready("after it was renewed at last", true)
}
