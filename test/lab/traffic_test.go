package lab

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequestsAreClassified(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, body string
		want               Request
		text               string
		writes             bool
	}{
		"a core object": {http.MethodGet, "/api/v1/namespaces/ns/configmaps/x", "",
			Request{Resource: "configmaps", Namespace: "ns", Name: "x"}, "get configmaps x", false},
		"a status": {http.MethodPut, "/apis/g.example.org/v1/namespaces/ns/gates/x/status", "",
			Request{Group: "g.example.org", Resource: "gates", Subresource: "status", Namespace: "ns", Name: "x"}, "put gates/status x", true},
		"an eviction": {http.MethodPost, "/api/v1/namespaces/ns/pods/x/eviction", `{"metadata":{"name":"x"}}`,
			Request{Resource: "pods", Subresource: "eviction", Namespace: "ns", Name: "x"}, "post pods/eviction x", true},
		"something new": {http.MethodPost, "/api/v1/namespaces/ns/configmaps", `{"metadata":{"name":"fresh"}}`,
			Request{Resource: "configmaps", Namespace: "ns", Name: "fresh"}, "post configmaps fresh", true},
		"something that is not JSON": {http.MethodPost, "/api/v1/namespaces/ns/configmaps", "k8s\x00",
			Request{Resource: "configmaps", Namespace: "ns"}, "post configmaps", true},
		"a trial": {http.MethodPost, "/api/v1/namespaces/ns/pods?dryRun=All", `{"metadata":{"generateName":"x-"}}`,
			Request{Resource: "pods", Namespace: "ns", Trial: true}, "post pods", false},
		"a list": {http.MethodGet, "/apis/g.example.org/v1/namespaces/ns/gates", "",
			Request{Group: "g.example.org", Resource: "gates", Namespace: "ns"}, "get gates", false},
		"a namespace": {http.MethodGet, "/api/v1/namespaces/ns", "", Request{Resource: "namespaces", Name: "ns"}, "get namespaces ns", false},
		"a cluster's": {http.MethodPatch, "/api/v1/nodes/n", "", Request{Resource: "nodes", Name: "n"}, "patch nodes n", true},
		"a lease":     {http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/ns/leases/l", "", Request{Group: "coordination.k8s.io", Resource: "leases", Namespace: "ns", Name: "l"}, "put leases l", false},
		"no resource": {http.MethodGet, "/version", "", Request{Resource: "/version"}, "get /version", false},
		"a deletion":  {http.MethodDelete, "/api/v1/namespaces/ns/configmaps/x", "", Request{Resource: "configmaps", Namespace: "ns", Name: "x"}, "delete configmaps x", true},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), c.method, "https://server"+c.path, bytes.NewReader([]byte(c.body)))
			if err != nil {
				t.Fatal(err)
			}
			c.want.Method = c.method
			got := classify(request)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.String() != c.text || got.Writes() != c.writes {
				t.Errorf("%q, writes: %v; want %q, %v", got, got.Writes(), c.text, c.writes)
			}
		})
	}
}
