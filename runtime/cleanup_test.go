package runtime_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/test/turnstile/api"
)

// What a kind keeps for an object, such as connections, is released when the object is deleted and not before: an object under
// deletion still exists.
func TestReconcilerForgetsDeletedObjects(t *testing.T) {
	var forgotten []types.UID
	r := newRig(t, func(r *rig) {
		r.kind.Cleanup = func(object types.UID) { forgotten = append(forgotten, object) }
	})
	r.rest()
	remove := func() {
		t.Helper()
		if err := r.server.Delete(t.Context(), r.gate()); err != nil {
			t.Fatal(err)
		}
	}
	old := r.gate()
	old.Finalizers = []string{"test.detent.dev/held"}
	if err := r.server.Update(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	remove()
	r.pass()
	if len(forgotten) > 0 {
		t.Fatalf("%q forgotten while it is being deleted", forgotten)
	}
	held := r.gate()
	held.Finalizers = nil
	if err := r.server.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	r.pass()
	r.pass()
	if diff := cmp.Diff([]types.UID{"gate-uid"}, forgotten); diff != "" {
		t.Fatalf("after its end (-want +got):\n%s", diff)
	}
	create := func() types.UID {
		next := &api.Turnstile{Spec: old.Spec}
		next.Name, next.Namespace = old.Name, old.Namespace
		if err := r.server.Create(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		r.pass()
		return next.UID
	}
	second := create()
	remove() // this deletion is never observed
	create()
	if diff := cmp.Diff([]types.UID{"gate-uid", second}, forgotten); diff != "" {
		t.Errorf("after another took its name (-want +got):\n%s", diff)
	}
}
