package objects_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds"
)

func TestParseReference(t *testing.T) {
	cases := map[string]struct {
		want objects.Reference
		err  string
	}{
		"kafka/orders":                   {want: objects.Reference{Type: "kafka", Name: "orders"}},
		"kafkas.kafka.strimzi.io/orders": {want: objects.Reference{Type: "kafkas.kafka.strimzi.io", Name: "orders"}},
		"orders":                         {err: `"orders" names no object: write TYPE/NAME, as for kubectl get`},
		"kafka/":                         {err: `"kafka/" names no object: write TYPE/NAME, as for kubectl get`},
		"/orders":                        {err: `"/orders" names no object: write TYPE/NAME, as for kubectl get`},
		"a/b/c":                          {err: `"a/b/c" names no object: write TYPE/NAME, as for kubectl get`},
	}
	for in, tc := range cases {
		t.Run(in, func(t *testing.T) {
			got, err := objects.ParseReference(in)
			if diff := cmp.Diff(tc.err, text(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

const saved = `
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: orders, namespace: prod}
status: {lifecycles: [{name: version, state: Settled, enteredAt: "2026-11-20T08:31:02Z"}]}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaNodePool
metadata: {name: orders, namespace: prod}
---
apiVersion: v1
kind: Pod
metadata: {name: orders-nodes-0, namespace: prod}
`

const twice = saved + `
---
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: orders, namespace: stage}
status: {lifecycles: [{name: version, state: Settled, enteredAt: "2026-11-20T08:31:02Z"}]}
`

const bare = "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: orders}\n"

func TestPick(t *testing.T) {
	ref := func(kind, name string) *objects.Reference { return &objects.Reference{Type: kind, Name: name} }
	cases := map[string]struct {
		content   string
		meant     *objects.Reference
		namespace string
		want, err string
	}{
		"the only one with lifecycles":           {content: saved, want: "Kafka prod/orders"},
		"by kind":                                {content: saved, meant: ref("Kafka", "orders"), want: "Kafka prod/orders"},
		"by plural and group":                    {content: saved, meant: ref("kafkas.kafka.strimzi.io", "orders"), want: "Kafka prod/orders"},
		"by plural, version and group":           {content: saved, meant: ref("kafkas.v1.kafka.strimzi.io", "orders"), want: "Kafka prod/orders"},
		"by short name":                          {content: saved, meant: ref("knp", "orders"), want: "KafkaNodePool prod/orders"},
		"a kind that is not ours":                {content: saved, meant: ref("pods", "orders-nodes-0"), want: "Pod prod/orders-nodes-0"},
		"another group":                          {content: saved, meant: ref("kafkas.example.org", "orders"), err: "kafkas.example.org/orders is not in the input: there are kafka/orders -n prod, kafkanodepool/orders -n prod, pod/orders-nodes-0 -n prod"},
		"another name":                           {content: saved, meant: ref("kafka", "payments"), err: "kafka/payments is not in the input: there are kafka/orders -n prod, kafkanodepool/orders -n prod, pod/orders-nodes-0 -n prod"},
		"in two namespaces":                      {content: twice, err: "several objects may be meant: kafka/orders -n prod, kafka/orders -n stage: name one as TYPE/NAME, and its namespace with -n"},
		"in two namespaces, one of them is said": {content: twice, namespace: "stage", want: "Kafka stage/orders"},
		"without a namespace, in default":        {content: bare, meant: ref("kafka", "orders"), namespace: "default", want: "Kafka /orders"},
		"without a namespace, in another":        {content: bare, meant: ref("kafka", "orders"), namespace: "stage", err: "kafka/orders -n stage is not in the input: there are kafka/orders"},
		"none with lifecycles":                   {content: "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", err: "no object in the input has lifecycles in its status: there are pod/a"},
		"nothing":                                {content: "", err: "the input holds no object"},
	}
	definitions, err := crds.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			read, err := objects.Parse("f", []byte(tc.content))
			if err != nil {
				t.Fatal(err)
			}
			got, err := objects.Pick(read, tc.meant, tc.namespace, definitions)
			if diff := cmp.Diff(tc.err, text(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			found := ""
			if got != nil {
				found = got.GetKind() + " " + got.GetNamespace() + "/" + got.GetName()
			}
			if diff := cmp.Diff(tc.want, found); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

// list as an API server answers it.
func list(apiVersion, kind string, names ...string) map[string]any {
	items := []any{}
	for _, name := range names {
		items = append(items, map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "namespace": "prod"}})
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind + "List", "metadata": map[string]any{}, "items": items}
}

// server answers as an API server that serves Kafka in two versions and holds one.
func server(t *testing.T) string {
	t.Helper()
	resources := []metav1.APIResource{{Name: "kafkas", SingularName: "kafka", Namespaced: true, Kind: "Kafka", ShortNames: []string{"k"}, Verbs: metav1.Verbs{"get"}}}
	group := metav1.APIGroup{
		Name:             "kafka.strimzi.io",
		Versions:         []metav1.GroupVersionForDiscovery{{GroupVersion: "kafka.strimzi.io/v1", Version: "v1"}, {GroupVersion: "kafka.strimzi.io/v1beta2", Version: "v1beta2"}},
		PreferredVersion: metav1.GroupVersionForDiscovery{GroupVersion: "kafka.strimzi.io/v1", Version: "v1"},
	}
	answers := map[string]any{
		"/api":                           metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}},
		"/apis":                          metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{group}},
		"/apis/kafka.strimzi.io/v1":      metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "kafka.strimzi.io/v1", APIResources: resources},
		"/apis/kafka.strimzi.io/v1beta2": metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "kafka.strimzi.io/v1beta2", APIResources: resources},
		"/apis/kafka.strimzi.io/v1beta2/namespaces/prod/kafkanodepools": list("kafka.strimzi.io/v1beta2", "KafkaNodePool", "nodes"),
		"/api/v1/namespaces/prod/pods":                                  list("v1", "Pod", "orders-nodes-0", "orders-nodes-1"),
		"/apis/kafka.strimzi.io/v1/namespaces/prod/kafkas/orders":       map[string]any{"apiVersion": "kafka.strimzi.io/v1", "kind": "Kafka", "metadata": map[string]any{"name": "orders", "namespace": "prod"}},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.URL.Path]
		if m, ok := answer.(map[string]any); ok && m["items"] != nil && r.URL.Query().Get("labelSelector") != "strimzi.io/cluster=orders" {
			t.Errorf("listing %s by %q", r.URL.Path, r.URL.RawQuery)
		}
		w.Header().Set("Content-Type", "application/json")
		if !known {
			w.WriteHeader(http.StatusNotFound)
			answer = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound, Message: "there is no such thing"}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	config := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: here, clusters: [{name: it, cluster: {server: %q}}],
contexts: [{name: here, context: {cluster: it, namespace: prod}}, {name: stage, context: {cluster: it, namespace: stage}}]}`, s.URL)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestClusterGet(t *testing.T) {
	kubeconfig := server(t)
	cases := map[string]struct {
		cluster   objects.Cluster
		kind      string
		want, err string
	}{
		"by kind, in the namespace of the context": {kind: "Kafka", want: "kafka.strimzi.io/v1 prod/orders"},
		"by short name":          {kind: "k", want: "kafka.strimzi.io/v1 prod/orders"},
		"by plural and group":    {kind: "kafkas.kafka.strimzi.io", want: "kafka.strimzi.io/v1 prod/orders"},
		"the namespace is given": {cluster: objects.Cluster{Namespace: "prod", Context: "stage"}, kind: "kafka", want: "kafka.strimzi.io/v1 prod/orders"},
		"the context is given":   {cluster: objects.Cluster{Context: "stage"}, kind: "kafka", err: "reading kafka/orders in namespace stage: there is no such thing"},
		"no such context":        {cluster: objects.Cluster{Context: "moon"}, kind: "kafka", err: `reading the kubeconfig: context "moon" does not exist`},
		"no such type":           {kind: "topic", err: `finding type "topic" in the cluster: no matches for /, Resource=topic`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.cluster.Kubeconfig = kubeconfig
			got, err := tc.cluster.Get(context.Background(), objects.Reference{Type: tc.kind, Name: "orders"})
			if diff := cmp.Diff(tc.err, text(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			found := ""
			if got != nil {
				found = got.GetAPIVersion() + " " + got.GetNamespace() + "/" + got.GetName()
			}
			if diff := cmp.Diff(tc.want, found); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClusterBelonging(t *testing.T) {
	cluster := objects.Cluster{Kubeconfig: server(t)}
	found, err := cluster.Belonging(context.Background(), registration.Resources(kinds.All()), objects.Reference{Type: "kafka", Name: "orders"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range found {
		got = append(got, o.GetKind()+" "+o.GetName())
	}
	want := []string{"Kafka orders", "KafkaNodePool nodes", "Pod orders-nodes-0", "Pod orders-nodes-1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := cluster.Belonging(context.Background(), registration.Resources(kinds.All()), objects.Reference{Type: "kafka", Name: "payments"}); err == nil {
		t.Error("a Kafka that is not there was found")
	}
}

func TestClusterGetWithoutACluster(t *testing.T) {
	cluster := objects.Cluster{Kubeconfig: filepath.Join(t.TempDir(), "none")}
	if _, err := cluster.Get(context.Background(), objects.Reference{Type: "kafka", Name: "orders"}); err == nil {
		t.Error("a kubeconfig that does not exist was read")
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
