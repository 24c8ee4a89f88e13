package operator

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/internal/resource"
)

// apiServer answers the requests of preflight.
type apiServer struct {
	version     string
	definitions []*apiextensionsv1.CustomResourceDefinition
	leases      []coordinationv1.Lease
	// forbidden says that nothing but the version may be read.
	forbidden bool
}

func healthy(t *testing.T) apiServer {
	t.Helper()
	definitions, err := crds.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	return apiServer{version: "v1.34.4", definitions: definitions}
}

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1"
	leasesPath      = "/apis/coordination.k8s.io/v1"
)

func (s apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var answer any
	switch {
	case r.URL.Path == "/version":
		answer = version.Info{GitVersion: s.version}
	case r.URL.Path == definitionsPath:
		answer = resources("apiextensions.k8s.io/v1", metav1.APIResource{Name: "customresourcedefinitions", Kind: "CustomResourceDefinition"})
	case r.URL.Path == leasesPath:
		answer = resources("coordination.k8s.io/v1", metav1.APIResource{Name: "leases", Kind: "Lease", Namespaced: true})
	case r.URL.Path == "/apis":
		answer = metav1.APIGroupList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}, Groups: []metav1.APIGroup{group("apiextensions.k8s.io"), group("coordination.k8s.io")},
		}
	case r.URL.Path == "/apis/apiextensions.k8s.io", r.URL.Path == "/apis/coordination.k8s.io":
		answer = group(strings.TrimPrefix(r.URL.Path, "/apis/"))
	case r.URL.Path == leasesPath+"/namespaces/kafka/leases":
		answer = coordinationv1.LeaseList{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "LeaseList"}, Items: s.leases}
	case s.forbidden && r.URL.Path != "/api": // discovery is open to everybody
		answer = failure(http.StatusForbidden, metav1.StatusReasonForbidden)
	case strings.HasPrefix(r.URL.Path, definitionsPath+"/customresourcedefinitions/"):
		answer = failure(http.StatusNotFound, metav1.StatusReasonNotFound)
		for _, d := range s.definitions {
			if strings.HasSuffix(r.URL.Path, "/"+d.Name) {
				answer = d
			}
		}
	case r.URL.Path == leasesPath+"/leases":
		answer = coordinationv1.LeaseList{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "LeaseList"}, Items: s.leases}
	default:
		answer = failure(http.StatusNotFound, metav1.StatusReasonNotFound)
	}
	w.Header().Set("Content-Type", "application/json")
	if status, failed := answer.(metav1.Status); failed {
		w.WriteHeader(int(status.Code))
	}
	_ = json.NewEncoder(w).Encode(answer) //nolint:errchkjson // the client says what it did not get
}

func resources(groupVersion string, all ...metav1.APIResource) metav1.APIResourceList {
	return metav1.APIResourceList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: groupVersion, APIResources: all}
}

func group(name string) metav1.APIGroup {
	v1 := metav1.GroupVersionForDiscovery{GroupVersion: name + "/v1", Version: "v1"}
	return metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroup"}, Name: name, Versions: []metav1.GroupVersionForDiscovery{v1}, PreferredVersion: v1,
	}
}

func failure(code int32, reason metav1.StatusReason) metav1.Status {
	return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code, Reason: reason}
}

// rival is the other operator of the kind of these tests.
var rival = &Rival{Name: "Strimzi", Lease: "strimzi-cluster-operator", Label: "app", LabelValue: "strimzi"}

// kinds returns a kind that declares all definitions as children.
func kinds(s *apiServer) []Kind {
	k := Kind{Rival: rival}
	for _, d := range s.definitions {
		if d.Spec.Names.Kind == "StrimziPodSet" {
			k.Parts = append(k.Parts, resource.Part{
				Access: resource.Applied, Resource: schema.GroupVersionResource{Group: d.Spec.Group, Resource: d.Spec.Names.Plural},
			})
		}
	}
	return []Kind{k}
}

func strimzi(holder string) []coordinationv1.Lease {
	return []coordinationv1.Lease{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: rival.Lease}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder},
	}}
}

// kafkas is the installed definition of Kafka.
func kafkas(s *apiServer) *apiextensionsv1.CustomResourceDefinition {
	for _, d := range s.definitions {
		if d.Spec.Names.Kind == "Kafka" {
			return d
		}
	}
	return nil
}

// upstream makes the installed definition of Kafka one without the status fields that Detent adds.
func upstream(s *apiServer) *apiextensionsv1.CustomResourceDefinition {
	d := kafkas(s)
	for i := range d.Spec.Versions {
		status := d.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["status"]
		delete(status.Properties, "lifecycles")
		delete(status.Properties, "summary")
		delete(status.Properties["conditions"].Items.Schema.Properties, "observedGeneration")
	}
	return d
}

func TestPreflight(t *testing.T) {
	tests := map[string]struct {
		given func(*apiServer)
		adopt bool
		watch []string
		want  []string // nothing for no error
	}{
		"all is well":             {given: func(*apiServer) {}},
		"a Kubernetes too old":    {given: func(s *apiServer) { s.version = "v1.30.9" }, want: []string{"runs Kubernetes v1.30.9: at least 1.31.0 is needed"}},
		"the oldest that will do": {given: func(s *apiServer) { s.version = "v1.31.0" }},
		"a vendor's version":      {given: func(s *apiServer) { s.version = "v1.33.5-eks-113cf36" }},
		"a version that is none":  {given: func(s *apiServer) { s.version = "master" }, want: []string{`reading the API server's version "master"`}},
		"no definitions":          {given: func(s *apiServer) { s.definitions = nil }, want: []string{"kafkas.kafka.strimzi.io is missing", "strimzipodsets.core.strimzi.io is missing", install}},
		"definitions of Strimzi":  {given: func(s *apiServer) { s.definitions[0].Labels = map[string]string{"app": "strimzi"} }, want: []string{s0, "start with --adopt"}},
		"an older definition": {given: func(s *apiServer) { upstream(s) }, want: []string{
			"kafkas.kafka.strimzi.io lacks status.conditions[].observedGeneration, status.lifecycles, status.summary: ", install,
		}},
		"definitions of Strimzi, adopted as they are": {given: func(s *apiServer) {
			upstream(s).Labels = map[string]string{"app": "strimzi"}
		}, adopt: true, want: []string{"lacks status.conditions[].observedGeneration, status.lifecycles, status.summary", install}},
		"no status subresource": {given: func(s *apiServer) {
			for i := range kafkas(s).Spec.Versions {
				kafkas(s).Spec.Versions[i].Subresources = nil
			}
		}, adopt: true, want: []string{"lacks the status subresource of v1beta2: "}},
		"a version that is not served": {given: func(s *apiServer) {
			for i := range kafkas(s).Spec.Versions {
				kafkas(s).Spec.Versions[i].Served = kafkas(s).Spec.Versions[i].Name != "v1beta2"
			}
		}, want: []string{"lacks version v1beta2: "}},
		"adopted":                  {given: func(s *apiServer) { s.definitions[0].Labels = map[string]string{"app": "strimzi"} }, adopt: true},
		"Strimzi's operator runs":  {given: func(s *apiServer) { s.leases = strimzi("pod-1") }, want: []string{"holds the lease kafka/strimzi-cluster-operator", "start with --adopt"}},
		"it was stopped":           {given: func(s *apiServer) { s.leases = strimzi("") }},
		"it runs and is adopted":   {given: func(s *apiServer) { s.leases = strimzi("pod-1") }, adopt: true},
		"no right to look at them": {given: func(s *apiServer) { s.forbidden = true }},
		"no right but in a namespace, where Strimzi's operator runs": {
			given: func(s *apiServer) { s.forbidden, s.leases = true, strimzi("pod-1") },
			watch: []string{"kafka"}, want: []string{"holds the lease kafka/strimzi-cluster-operator"},
		},
		"no right but in a namespace, where nothing runs": {given: func(s *apiServer) { s.forbidden = true }, watch: []string{"kafka", "other"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := healthy(t)
			tc.given(&s)
			server := httptest.NewServer(s)
			defer server.Close()
			err := preflight(t.Context(), &Options{Config: &rest.Config{Host: server.URL}, Kinds: kinds(&s), Adopt: tc.adopt, Namespaces: tc.watch, Log: logr.Discard()})
			if len(tc.want) == 0 && err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
		})
	}
}

// s0 is the error for a definition of another operator.
const s0 = "is Strimzi's: two operators must not serve one cluster"

func TestPreflightOfAnUnreachableServer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	err := preflight(t.Context(), &Options{Config: &rest.Config{Host: server.URL}, Kinds: []Kind{{}}})
	if err == nil || !strings.Contains(err.Error(), server.URL) || !strings.Contains(err.Error(), "check the kubeconfig") {
		t.Errorf("error %v, want one that names %s and says what to do", err, server.URL)
	}
}
