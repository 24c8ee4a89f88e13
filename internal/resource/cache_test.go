package resource_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
			{Object: &corev1.Pod{}, Resource: corev1.SchemeGroupVersion.WithResource("pods"), Access: resource.Watched},
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

// Two kinds with different labels watch all objects of a common part. Those of others take hardly any memory.
func TestCacheOptionsKeepTheIdentityOfForeignParts(t *testing.T) {
	a, b := kindOf("a", "example.com/a", &corev1.Namespace{}), kindOf("b", "example.com/b", &corev1.Node{})
	a.Resource.Group = "example.com"
	o, err := resource.CacheOptions([]resource.Kind{a, b}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var transform func(any) (any, error)
	for object, by := range o.ByObject {
		if _, pods := object.(*corev1.Pod); pods {
			transform = by.Transform
		}
	}
	identity := metav1.ObjectMeta{Name: "p", Namespace: "n", UID: "u", ResourceVersion: "1"}
	for name, tc := range map[string]struct {
		labels  map[string]string
		owner   string
		foreign bool
	}{
		"no label":                            {foreign: true},
		"another label":                       {labels: map[string]string{"example.com/c": "x"}, foreign: true},
		"another label and another owner":     {labels: map[string]string{"example.com/c": "x"}, owner: "apps/v1", foreign: true},
		"the label of the first kind":         {labels: map[string]string{"example.com/a": "x"}},
		"the label of the second kind":        {labels: map[string]string{"example.com/b": "x"}},
		"a kind controls what lost its label": {owner: "example.com/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: identity, Spec: corev1.PodSpec{NodeName: "node"}}
			pod.Labels = tc.labels
			if tc.owner != "" {
				pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: tc.owner, Kind: "X", Name: "x", UID: "x", Controller: new(true)}}
			}
			want := pod.DeepCopy()
			if tc.foreign {
				want = &corev1.Pod{ObjectMeta: identity}
			}
			got, err := transform(pod)
			if diff := cmp.Diff(any(want), got); diff != "" || err != nil {
				t.Errorf("cached (-want +got): %v\n%s", err, diff)
			}
		})
	}
}
