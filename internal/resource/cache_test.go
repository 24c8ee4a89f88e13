package resource_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/internal/resource"
)

// kindOf returns a kind whose pods have the label, and whose ConfigMaps users write.
func kindOf(name, label string, object client.Object) resource.Kind {
	return resource.Kind{
		Name: name, Object: object, Resource: schema.GroupVersionResource{Resource: name}, Label: label,
		Parts: []resource.Part{
			{Object: &corev1.ConfigMap{}, Resource: corev1.SchemeGroupVersion.WithResource("configmaps")},
			{Object: &corev1.Pod{}, Resource: corev1.SchemeGroupVersion.WithResource("pods"), Access: resource.Applied},
		},
	}
}

func text(s apilabels.Selector) string {
	if s == nil {
		return "all"
	}
	return s.String()
}

func TestCacheOptions(t *testing.T) {
	a, b := kindOf("a", "example.com/a", &corev1.Namespace{}), kindOf("b", "example.com/a", &corev1.Node{})
	other := kindOf("other", "example.com/other", &corev1.Secret{})
	tests := map[string]struct {
		kinds    []resource.Kind
		selector apilabels.Selector
		want     map[string]string
	}{
		"no selector": {kinds: []resource.Kind{a}, want: map[string]string{"*v1.Namespace": "all", "*v1.Pod": "example.com/a"}},
		"a selector limits the objects and not their parts": {
			kinds: []resource.Kind{a}, selector: apilabels.SelectorFromSet(apilabels.Set{"team": "a"}),
			want: map[string]string{"*v1.Namespace": "team=a", "*v1.Pod": "example.com/a"},
		},
		"two kinds with one label": {
			kinds: []resource.Kind{a, b}, want: map[string]string{"*v1.Namespace": "all", "*v1.Node": "all", "*v1.Pod": "example.com/a"},
		},
		"two kinds with different labels": {
			kinds: []resource.Kind{a, other}, want: map[string]string{"*v1.Namespace": "all", "*v1.Secret": "all", "*v1.Pod": "all"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, err := resource.CacheOptions(tc.kinds, []string{"prod"}, tc.selector)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for object, by := range o.ByObject {
				got[fmt.Sprintf("%T", object)] = text(by.Label)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("selectors (-want +got):\n%s", diff)
			}
			if _, only := o.DefaultNamespaces["prod"]; !only || len(o.DefaultNamespaces) != 1 || !o.ReaderFailOnMissingInformer {
				t.Errorf("namespaces %v, fails on what is not watched: %v", o.DefaultNamespaces, o.ReaderFailOnMissingInformer)
			}
		})
	}
}
