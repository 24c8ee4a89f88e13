package runtime_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// indexedManager is a manager of which only the client and the indexes are used. Its cache answers a list by a field that is not
// indexed with an error, as that of controller-runtime does.
type indexedManager struct {
	client client.Client
	cache  *fake.ClientBuilder
}

func (m *indexedManager) GetClient() client.Client             { return m.client }
func (m *indexedManager) GetFieldIndexer() client.FieldIndexer { return m }

// IndexField implements client.FieldIndexer.
func (m *indexedManager) IndexField(_ context.Context, object client.Object, field string, values client.IndexerFunc) error {
	m.cache.WithIndex(object, field, values)
	return nil
}

func TestIndexLabel(t *testing.T) {
	const label, other = "example.com/cluster", "example.com/role"
	requires := func(key string, op selection.Operator, values ...string) client.ListOption {
		r, err := labels.NewRequirement(key, op, values)
		if err != nil {
			t.Fatal(err)
		}
		return client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*r)}
	}
	const used = "metadata.labels[example.com/cluster]=orders"
	tests := map[string]struct {
		of    []client.ListOption
		list  client.ObjectList
		field string
		want  []string
	}{
		"one value":                    {of: []client.ListOption{client.MatchingLabels{label: "orders"}}, field: used, want: []string{"a/0", "a/1", "b/0"}},
		"one value in a namespace":     {of: []client.ListOption{client.MatchingLabels{label: "orders"}, client.InNamespace("a")}, field: used, want: []string{"a/0", "a/1"}},
		"and another label":            {of: []client.ListOption{client.MatchingLabels{label: "orders", other: "x"}}, field: used, want: []string{"a/1"}},
		"one of one value":             {of: []client.ListOption{requires(label, selection.In, "orders")}, field: used, want: []string{"a/0", "a/1", "b/0"}},
		"one of two values":            {of: []client.ListOption{requires(label, selection.In, "orders", "bills")}, want: []string{"a/0", "a/1", "a/2", "b/0"}},
		"any value but one":            {of: []client.ListOption{requires(label, selection.NotIn, "orders")}, want: []string{"a/2", "a/3"}},
		"a label without an index":     {of: []client.ListOption{client.MatchingLabels{other: "x"}}, want: []string{"a/1"}},
		"no selector":                  {want: []string{"a/0", "a/1", "a/2", "a/3", "b/0"}},
		"a type without an index":      {of: []client.ListOption{client.MatchingLabels{label: "orders"}}, list: &corev1.PodList{}},
		"metadata, with another cache": {of: []client.ListOption{client.MatchingLabels{label: "orders"}}, list: metadataOfConfigMaps(), want: []string{"a/0", "a/1", "b/0"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			scheme := k8sruntime.NewScheme()
			if err := corev1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			m := &indexedManager{cache: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
				labelled("a", "0", label, "orders"), labelled("a", "1", label, "orders", other, "x"), labelled("a", "2", label, "bills"), labelled("a", "3"), labelled("b", "0", label, "orders"),
			)}
			var reader client.Reader
			field := ""
			m.cache.WithInterceptorFuncs(interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				var o client.ListOptions
				o.ApplyOptions(opts)
				if o.FieldSelector != nil {
					field = o.FieldSelector.String()
				}
				return c.List(ctx, list, opts...)
			}})
			made, err := lifecycle.NewClient(&rest.Config{Host: "127.0.0.1:1"}, client.Options{
				Scheme: scheme, Mapper: meta.NewDefaultRESTMapper(nil), Cache: &client.CacheOptions{Reader: lazy{&reader}},
			})
			if err != nil {
				t.Fatal(err)
			}
			m.client = made
			if err := lifecycle.IndexLabel(t.Context(), m, label, &corev1.ConfigMap{}); err != nil {
				t.Fatal(err)
			}
			reader = m.cache.Build()
			if tc.list == nil {
				tc.list = &corev1.ConfigMapList{}
			}
			if err := made.List(t.Context(), tc.list, tc.of...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, namesIn(t, tc.list)); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
			if field != tc.field {
				t.Errorf("the cache was asked by the field %q, want %q", field, tc.field)
			}
		})
	}
}

func TestIndexLabelRefusesAnotherClient(t *testing.T) {
	m := &indexedManager{client: fake.NewClientBuilder().Build(), cache: fake.NewClientBuilder()}
	err := lifecycle.IndexLabel(t.Context(), m, "example.com/cluster", &corev1.ConfigMap{})
	const want = "indexing *v1.ConfigMap by the label example.com/cluster: the client of the manager is a *fake.fakeClient: set NewClient of the manager's options to runtime.NewClient"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// lazy is a reader that is made later.
type lazy struct{ to *client.Reader }

func (l lazy) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return (*l.to).Get(ctx, key, into, opts...)
}

func (l lazy) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	return (*l.to).List(ctx, into, opts...)
}

func labelled(namespace, name string, pairs ...string) *corev1.ConfigMap {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}}}
	for pair := range slices.Chunk(pairs, 2) {
		m.Labels[pair[0]] = pair[1]
	}
	return m
}

func metadataOfConfigMaps() *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	return list
}

func namesIn(t *testing.T, list client.ObjectList) (names []string) {
	t.Helper()
	err := meta.EachListItem(list, func(o k8sruntime.Object) error {
		one, err := meta.Accessor(o)
		if err == nil {
			names = append(names, one.GetNamespace()+"/"+one.GetName())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}
