package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/internal/resource"
)

// A Kafka and a KafkaMirrorMaker2 of one name have the same label.
func TestTrackOfObjectsOfOneName(t *testing.T) {
	kinds := []Kind{{Kind: resource.Kind{Name: "Kafka", Label: "cluster"}}, {Kind: resource.Kind{Name: "Mirror", Label: "cluster"}}}
	name := types.NamespacedName{Namespace: "ns", Name: "x"}
	object := func(kind, name string, owners ...metav1.OwnerReference) client.Object {
		return &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{Kind: kind},
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"cluster": "x"}, OwnerReferences: owners},
		}
	}
	owner := func(kind, name string, controls bool) metav1.OwnerReference {
		return metav1.OwnerReference{Kind: kind, Name: name, Controller: &controls}
	}
	sets := map[string]client.Object{"x-workers": object("PodSet", "x-workers", owner("Mirror", "x", false)), "loop": object("PodSet", "loop", owner("PodSet", "loop", true))}
	for what, tc := range map[string]struct {
		object client.Object
		actor  string
		want   string
	}{
		"the object itself":                     {object("Mirror", "x"), "Mirror", "Mirror"},
		"its child":                             {object("Service", "x-api", owner("Mirror", "x", false)), "Mirror", "Mirror"},
		"a pod of its set":                      {object("Pod", "x-0", owner("PodSet", "x-workers", true)), "PodSet", "Mirror"},
		"a pod of a set that is gone":           {object("Pod", "x-0", owner("PodSet", "other", true)), "Mirror", "Mirror"},
		"owners that own each other":            {object("Pod", "x-0", owner("PodSet", "loop", true)), "Mirror", "Mirror"},
		"an object that nothing owns":           {object("ConfigMap", "x-record"), "Mirror", "Mirror"},
		"one that a controller of parts writes": {object("ConfigMap", "x-record"), "PodSet", "Kafka"},
	} {
		t.Run(what, func(t *testing.T) {
			r := &recorder{
				kinds: kinds, kindOf: func(o client.Object) string { return o.GetObjectKind().GroupVersionKind().Kind },
				find:  func(_ schema.GroupVersionKind, name types.NamespacedName) client.Object { return sets[name.Name] },
				actor: &Driver{Of: schema.GroupVersionKind{Kind: tc.actor}}, tracks: map[subject]*track{},
			}
			for i := range kinds {
				r.tracks[subject{kinds[i].Name, name}] = &track{object: found{kind: &kinds[i]}}
			}
			if got := r.trackOf(tc.object); got == nil || got.object.kind.Name != tc.want {
				t.Errorf("recorded for %+v, want %s", got, tc.want)
			}
		})
	}
}
