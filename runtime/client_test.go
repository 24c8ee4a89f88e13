package runtime_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// statusServer answers status updates of one turnstile, and reads of it.
type statusServer struct {
	// code, warning and answer are those of an update.
	code            int
	warning, answer string
	// stored is what a read returns.
	stored   string
	requests []string
	// sent is the status of the last update.
	sent map[string]any
}

func (s *statusServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, s.stored)
		return
	}
	var body struct{ Status map[string]any }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.sent = body.Status
	if s.warning != "" {
		w.Header().Set("Warning", `299 - "`+s.warning+`"`)
	}
	w.WriteHeader(s.code)
	_, _ = io.WriteString(w, s.answer)
}

func TestNewClientUpdatesStatus(t *testing.T) {
	const (
		metadata = `{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "gate", "namespace": "park", "resourceVersion": "8"}}`
		pruned   = `{"kind": "Turnstile", "apiVersion": "turnstile.test.detent.dev/v1", "metadata": {"name": "gate", "namespace": "park", "resourceVersion": "9"}}`
		put      = "PUT /apis/turnstile.test.detent.dev/v1/namespaces/park/turnstiles/gate/status?fieldValidation=Warn"
		get      = "GET /apis/turnstile.test.detent.dev/v1/namespaces/park/turnstiles/gate"
	)
	tests := map[string]struct {
		server       statusServer
		wantRequests []string
		// wantRevision and wantGeneration are those of the object after the update.
		wantRevision   string
		wantGeneration int64
		wantConflict   bool
	}{
		"stored as sent": {
			server: statusServer{code: http.StatusOK, answer: metadata}, wantRequests: []string{put}, wantRevision: "8", wantGeneration: 3,
		},
		"an unknown field of the spec is not ours": {
			server:       statusServer{code: http.StatusOK, answer: metadata, warning: `unknown field \"spec.x\"`},
			wantRequests: []string{put}, wantRevision: "8", wantGeneration: 3,
		},
		"stored without a field of the status": {
			server:       statusServer{code: http.StatusOK, answer: metadata, warning: `unknown field \"status.observedGeneration\"`, stored: pruned},
			wantRequests: []string{put, get}, wantRevision: "9", wantGeneration: 0,
		},
		"a conflict": {
			server: statusServer{
				code: http.StatusConflict, answer: `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Conflict", "code": 409}`,
			},
			wantRequests: []string{put}, wantRevision: "7", wantGeneration: 3, wantConflict: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(&tc.server)
			defer server.Close()
			scheme := k8sruntime.NewScheme()
			if err := api.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(api.GroupVersion.WithKind("Turnstile"), meta.RESTScopeNamespace)
			c, err := lifecycle.NewClient(&rest.Config{Host: server.URL}, client.Options{Scheme: scheme, Mapper: mapper})
			if err != nil {
				t.Fatal(err)
			}
			object := &api.Turnstile{}
			object.Namespace, object.Name, object.ResourceVersion, object.Status.ObservedGeneration = "park", "gate", "7", 3
			if err := c.Status().Update(t.Context(), object); apierrors.IsConflict(err) != tc.wantConflict || err != nil && !tc.wantConflict {
				t.Errorf("the update returned %v", err)
			}
			if diff := cmp.Diff(tc.wantRequests, tc.server.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]any{"observedGeneration": 3.0}, tc.server.sent); diff != "" {
				t.Errorf("the status that was sent (-want +got):\n%s", diff)
			}
			if object.ResourceVersion != tc.wantRevision || object.Status.ObservedGeneration != tc.wantGeneration {
				t.Errorf("the object has the revision %s and the generation %d, want %s and %d",
					object.ResourceVersion, object.Status.ObservedGeneration, tc.wantRevision, tc.wantGeneration)
			}
		})
	}
}
