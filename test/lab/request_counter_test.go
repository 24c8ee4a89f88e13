package lab

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTallyCountsWritesByWhatTheyAre(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/status") {
			w.WriteHeader(http.StatusConflict)
		}
	}))
	defer server.Close()
	counter := &RequestCounter{}
	through := counter.Wrap(server.Client().Transport)
	const core, group = "/api/v1/namespaces/ns/", "/apis/g.example.org/v1/namespaces/"
	for _, request := range [][2]string{
		{http.MethodGet, core + "configmaps/a"},
		{http.MethodPost, core + "configmaps"}, {http.MethodPost, "/api/v1/namespaces/other/configmaps"},
		{http.MethodPut, group + "ns/gates/a/status"}, // it is refused, and was a write all the same
		{http.MethodPost, "/apis/events.k8s.io/v1/namespaces/ns/events"},
		{http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/ns/leases/l"},
		{http.MethodDelete, core + "pods/a"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), request[0], server.URL+request[1], http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := through.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	lost, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "http://127.0.0.1:1"+core+"pods/a", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := through.RoundTrip(lost); err == nil {
		answer.Body.Close()
		t.Error("nobody listens there")
	}
	want := map[string]int{"post configmaps": 2, "put gates/status": 1, "post events": 1, "delete pods": 1, "patch pods": 1}
	if diff := cmp.Diff(want, counter.Writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}
