package fleet

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
)

// stub is an API server of greetings at rest and their ConfigMaps. It makes the objects from two texts when they are listed or
// watched, and stores only what is written to leases.
type stub struct {
	size int
	// greeting and said are number 0 as JSON, with the values that differ from object to object.
	greeting, said string
	own            []string

	mu    sync.Mutex
	lease []byte
}

// newestRevision is the revision of the lists.
const newestRevision = "9000000"

// newStub brings one greeting to rest in an API server in memory.
func newStub(tb testing.TB, size int) *stub {
	tb.Helper()
	scheme := k8sruntime.NewScheme()
	must(tb, corev1.AddToScheme(scheme))
	must(tb, api.AddToScheme(scheme))
	now := time.Now()
	c := store.New(scheme, now).Client()
	first, ok := greeting(0)[0].(*api.Greeting)
	if !ok {
		tb.Fatal("greeting 0 is no Greeting")
	}
	must(tb, c.Create(tb.Context(), first))
	kind, err := hello.Operator.Kind()
	must(tb, err)
	reconciler := lifecycle.New(kind, lifecycle.Options{Client: c, Live: c})
	key := client.ObjectKeyFromObject(first)
	for revision := ""; revision != first.ResourceVersion || !meta.IsStatusConditionTrue(first.Status.Conditions, lifecycle.Ready); {
		revision = first.ResourceVersion
		_, err := reconciler.Reconcile(tb.Context(), reconcile.Request{NamespacedName: key})
		must(tb, err)
		must(tb, c.Get(tb.Context(), key, first))
	}
	said := &corev1.ConfigMap{}
	must(tb, c.Get(tb.Context(), key, said))
	s := &stub{size: size, own: []string{first.Name, string(first.UID), string(said.UID), quoted(first.ResourceVersion), quoted(said.ResourceVersion)}}
	for into, object := range map[*string]client.Object{&s.greeting: first, &s.said: said} {
		gvk, err := apiutil.GVKForObject(object, scheme)
		must(tb, err)
		object.GetObjectKind().SetGroupVersionKind(gvk)
		text, err := json.Marshal(object)
		must(tb, err)
		*into = string(text)
	}
	return s
}

func quoted(revision string) string { return `"resourceVersion":"` + revision + `"` }

// number returns object n.
func (s *stub) number(text string, n int) string {
	return strings.NewReplacer(
		s.own[0], fmt.Sprintf("greeting-%06d", n), s.own[1], fmt.Sprintf("%08d-0000-4000-8000-000000000001", n),
		s.own[2], fmt.Sprintf("%08d-0000-4000-8000-000000000002", n), s.own[3], quoted(fmt.Sprint(1000+2*n)), s.own[4], quoted(fmt.Sprint(1001+2*n)),
	).Replace(text)
}

// ServeHTTP implements http.Handler.
func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case path == "/api/v1/configmaps":
		s.serve(w, r, s.said, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	case path == "/apis/hello.example.org/v1/greetings":
		s.serve(w, r, s.greeting, api.GroupVersion.WithKind("Greeting"))
	case strings.Contains(path, "/leases"):
		s.serveLease(w, r)
	case r.Method == http.MethodPost: // an event
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"kind": "Event", "apiVersion": "events.k8s.io/v1", "metadata": {"name": "e"}}`)
	default:
		discover(w, path)
	}
}

// serve lists or watches all objects of a kind. No object changes.
func (s *stub) serve(w http.ResponseWriter, r *http.Request, text string, gvk schema.GroupVersionKind) {
	query := r.URL.Query()
	if query.Get("watch") == "" {
		fmt.Fprintf(w, `{"kind": "%sList", "apiVersion": %q, "metadata": {"resourceVersion": %q}, "items": [`, gvk.Kind, gvk.GroupVersion(), newestRevision)
		for n := range s.size {
			fmt.Fprint(w, strings.Repeat(",", min(n, 1)), s.number(text, n))
		}
		fmt.Fprint(w, "]}")
		return
	}
	if query.Get("sendInitialEvents") == "true" {
		for n := range s.size {
			fmt.Fprintf(w, `{"type": "ADDED", "object": %s}`+"\n", s.number(text, n))
		}
		fmt.Fprintf(w, `{"type": "BOOKMARK", "object": {"kind": %q, "apiVersion": %q, "metadata": {"resourceVersion": %q, "annotations": {%q: "true"}}}}`+"\n",
			gvk.Kind, gvk.GroupVersion(), newestRevision, metav1.InitialEventsAnnotationKey)
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	<-r.Context().Done()
}

// serveLease returns a lease as it was last written.
func (s *stub) serveLease(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method != http.MethodGet {
		s.lease, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	}
	if s.lease == nil {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
		return
	}
	w.Write(s.lease) //nolint:errcheck,gosec // the client is gone
}

// discover answers what is served.
func discover(w http.ResponseWriter, path string) {
	groups := map[string]string{"": "configmaps ConfigMap", "hello.example.org": "greetings Greeting", "events.k8s.io": "events Event", "coordination.k8s.io": "leases Lease"}
	switch path {
	case "/api":
		fmt.Fprint(w, `{"kind": "APIVersions", "versions": ["v1"]}`)
		return
	case "/apis":
		var list []string
		for group := range groups {
			if group != "" {
				version := fmt.Sprintf(`{"groupVersion": "%s/v1", "version": "v1"}`, group)
				list = append(list, fmt.Sprintf(`{"name": %q, "versions": [%s], "preferredVersion": %s}`, group, version, version))
			}
		}
		fmt.Fprintf(w, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [%s]}`, strings.Join(list, ", "))
		return
	}
	for group, served := range groups {
		if path == "/apis/"+group+"/v1" || group == "" && path == "/api/v1" {
			name, kind, _ := strings.Cut(served, " ")
			fmt.Fprintf(w, `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": %q, "resources": [{"name": %q, "namespaced": true, "kind": %q, "verbs": ["get", "list", "watch", "create", "update"]}]}`,
				strings.TrimPrefix(group+"/v1", "/"), name, kind)
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
}
