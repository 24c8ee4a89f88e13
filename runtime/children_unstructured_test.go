package runtime_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// untyped is a turnstile whose children are written without their Go type. Its cache contains nothing while it is late.
type untyped struct {
	server   client.WithWatch
	late     bool
	writes   []string
	clock    *clocktesting.FakePassiveClock
	children *lifecycle.Children
	owner    *api.Turnstile
}

func newUntyped(t *testing.T) *untyped {
	t.Helper()
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{corev1.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	u := &untyped{
		server: fake.NewClientBuilder().WithScheme(scheme).Build(), clock: clocktesting.NewFakePassiveClock(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)),
		owner: &api.Turnstile{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gate, UID: "gate-uid"}},
	}
	cache := interceptor.NewClient(u.server, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if u.late {
				key.Name = "missing"
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if u.late {
				opts = []client.ListOption{client.InNamespace("missing")}
			}
			return c.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			u.writes = append(u.writes, "create "+o.GetName())
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			u.writes = append(u.writes, "update "+o.GetName())
			return c.Update(ctx, o, opts...)
		},
	})
	u.children = lifecycle.NewChildren(cache, u.server, u.clock)
	return u
}

func configMap(text string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"text": text},
		"metadata": map[string]any{"name": "child", "namespace": namespace, "labels": map[string]any{"of": gate}},
	}}
}

func TestWriterApplyUnstructured(t *testing.T) {
	for name, tc := range map[string]struct {
		stored []string // texts that were applied before
		late   bool
		want   []string
	}{
		"creates a child that is missing":         {want: []string{"create child"}},
		"does nothing if equal":                   {stored: []string{"new"}},
		"updates a child":                         {stored: []string{"old"}, want: []string{"update child"}},
		"updates a child that the cache lacks":    {stored: []string{"old"}, late: true, want: []string{"update child"}},
		"does nothing if a late cache is behind":  {stored: []string{"new"}, late: true},
		"updates a child that was updated before": {stored: []string{"older", "old"}, want: []string{"update child"}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUntyped(t)
			write := u.children.Writer(u.owner, nil)
			for _, text := range tc.stored {
				if err := write.Apply(t.Context(), configMap(text)); err != nil {
					t.Fatal(err)
				}
			}
			u.writes, u.late = nil, tc.late
			u.clock.SetTime(u.clock.Now().Add(2 * time.Second))
			if err := write.Apply(t.Context(), configMap("new")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, u.writes, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			got := &corev1.ConfigMap{}
			if err := u.server.Get(t.Context(), client.ObjectKeyFromObject(configMap("")), got); err != nil {
				t.Fatal(err)
			}
			if got.Data["text"] != "new" || got.Labels["of"] != gate || !metav1.IsControlledBy(got, u.owner) {
				t.Errorf("stored %+v", got)
			}
		})
	}
}

// TestWriterApplyUnstructuredComparesWhatIsStored applies a child, and then another or the same one again, which leaves nothing to write.
func TestWriterApplyUnstructuredComparesWhatIsStored(t *testing.T) {
	secret := func(field string, value any) *unstructured.Unstructured {
		u := configMap("")
		u.Object["kind"], u.Object["data"] = "Secret", map[string]any{}
		u.Object[field] = value
		return u
	}
	service := func(port any) *unstructured.Unstructured {
		u := configMap("")
		delete(u.Object, "data")
		u.Object["kind"], u.Object["spec"] = "Service", map[string]any{"ports": []any{map[string]any{"port": port, "protocol": "TCP"}}}
		return u
	}
	with := func(field string, value any) *unstructured.Unstructured {
		u := configMap("old")
		u.Object[field] = value
		return u
	}
	empty, without := with("data", map[string]any{}), configMap("")
	delete(without.Object, "data")
	for name, tc := range map[string]struct {
		stored, next *unstructured.Unstructured
		want         []string
	}{
		"a whole number of JSON":    {stored: service(float64(80)), next: service(float64(80))},
		"a whole number of Go":      {stored: service(80), next: service(80)},
		"another number":            {stored: service(80), next: service(81), want: []string{"update child"}},
		"no key of a ConfigMap":     {stored: empty, next: empty},
		"no binary key beside one":  {stored: with("binaryData", map[string]any{}), next: with("binaryData", map[string]any{})},
		"no key of a Secret":        {stored: secret("data", map[string]any{}), next: secret("data", map[string]any{})},
		"no text of a Secret":       {stored: secret("stringData", map[string]any{}), next: secret("stringData", map[string]any{})},
		"a line break in base64":    {stored: secret("data", map[string]any{"a": "eA==\n"}), next: secret("data", map[string]any{"a": "eA==\n"})},
		"keys of others":            {stored: configMap("of others"), next: without},
		"a key of a ConfigMap less": {stored: configMap("old"), next: empty, want: []string{"update child"}},
		"a key of a Secret less":    {stored: secret("data", map[string]any{"a": "eA=="}), next: secret("data", map[string]any{}), want: []string{"update child"}},
		"the text of a Secret":      {stored: secret("data", map[string]any{"a": "eA=="}), next: secret("stringData", map[string]any{"a": "x"})},
		"another text of a Secret":  {stored: secret("data", map[string]any{"a": "eA=="}), next: secret("stringData", map[string]any{"a": "y"}), want: []string{"update child"}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUntyped(t)
			write := u.children.Writer(u.owner, nil)
			for i, child := range []*unstructured.Unstructured{tc.stored, tc.next, tc.next} {
				u.writes = nil
				if err := write.Apply(t.Context(), child); err != nil {
					t.Fatal(err)
				}
				u.clock.SetTime(u.clock.Now().Add(2 * time.Second))
				if diff := cmp.Diff([][]string{{"create child"}, tc.want, nil}[i], u.writes, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("writes of Apply %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

// A read that replaces that of a late cache returns the object, whatever its type.
func TestChildrenReaderLateReadsWithoutAType(t *testing.T) {
	kind := metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	lists := metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}
	content := map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}
	for name, into := range map[string]k8sruntime.Object{
		"unstructured":       &unstructured.Unstructured{Object: content},
		"metadata":           &metav1.PartialObjectMetadata{TypeMeta: kind},
		"typed":              &corev1.ConfigMap{},
		"unstructured list":  &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMapList"}},
		"a list of metadata": &metav1.PartialObjectMetadataList{TypeMeta: lists},
		"a typed list":       &corev1.ConfigMapList{},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUntyped(t)
			u.late = true
			child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "child"}}
			if err := u.children.Writer(u.owner, nil).Create(t.Context(), child); err != nil {
				t.Fatal(err)
			}
			u.clock.SetTime(u.clock.Now().Add(2 * time.Second))
			read, err := u.children.Reader(u.owner.UID, false), error(nil)
			got := []string{}
			switch into := into.(type) {
			case client.Object:
				err = read.Get(t.Context(), client.ObjectKeyFromObject(child), into)
				got = append(got, into.GetName())
			case client.ObjectList:
				err = read.List(t.Context(), into, client.InNamespace(namespace))
				_ = meta.EachListItem(into, func(item k8sruntime.Object) error {
					if one, ok := item.(client.Object); ok {
						got = append(got, one.GetName())
					}
					return nil
				})
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"child"}, got); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}
