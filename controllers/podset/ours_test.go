package podset

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

// Two managers that divide a fleet must not both make the pods of a set.
func TestReconcileLeavesASetOfAnotherManager(t *testing.T) {
	r := newRig(t, setOf(t, "1", "c-p-0"))
	ours := false
	r.Ours = func(_ context.Context, set *corev1beta2.StrimziPodSet) (bool, error) { return ours, nil }
	r.run(t)
	if len(r.writes) > 0 {
		t.Errorf("wrote %q", r.writes)
	}
	ours = true
	r.run(t)
	if diff := cmp.Diff([]string{"create c-p-0", "status c-p"}, r.writes); diff != "" {
		t.Errorf("once it is ours (-want +got):\n%s", diff)
	}
	r.Ours = func(context.Context, *corev1beta2.StrimziPodSet) (bool, error) { return false, errors.New("no cache") }
	key := types.NamespacedName{Namespace: "ns", Name: "c-p"}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err == nil {
		t.Error("that nobody knows whose it is gives no error")
	}
}

func TestReconcilerEnqueuesTheSetsOfANewKafka(t *testing.T) {
	mine, other := setOf(t, "1"), setOf(t, "1")
	mine.Labels = map[string]string{"strimzi.io/cluster": "c"}
	other.Name, other.Labels = "d-p", map[string]string{"strimzi.io/cluster": "d"}
	r := newRig(t, mine, other)
	kafka := setOf(t, "1") // any object of that name
	kafka.Name = "c"
	want := []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "c-p"}}}
	if diff := cmp.Diff(want, r.setsOf(t.Context(), kafka)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
