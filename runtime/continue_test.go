package runtime_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// TestReconcilerContinuing lets another lamp be requested from an object at rest, whose cache does not show the object's next
// version before the end of the test.
func TestReconcilerContinuing(t *testing.T) {
	type want struct {
		Writes []string
		Lamp   string
		Failed bool
	}
	status := func(answer error) func(*rig) {
		return func(r *rig) {
			r.refuse = func(write string) error {
				if write == "status" {
					return answer
				}
				return nil
			}
		}
	}
	lost := func(r *rig) {
		r.lose = func(write string) error {
			if write == "status" {
				return context.DeadlineExceeded
			}
			return nil
		}
	}
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "turnstiles"}, gate, errors.New("somebody was faster"))
	for name, c := range map[string]struct {
		prepare func(*rig)
		once    bool
		want    want
	}{
		"the action follows its commit":            {want: want{Writes: []string{"status", "update gate-lamp"}, Lamp: turnstile.Switching}},
		"one reconcile only commits":               {once: true, want: want{Writes: []string{"status"}, Lamp: turnstile.Switching}},
		"a conflict ends the reconcile":            {prepare: status(conflict), want: want{Lamp: turnstile.Lit}},
		"a refused commit ends the reconcile":      {prepare: status(errors.New("refused")), want: want{Lamp: turnstile.Lit, Failed: true}},
		"an unknown outcome ends the reconcile":    {prepare: lost, want: want{Writes: []string{"status"}, Lamp: turnstile.Switching, Failed: true}},
		"an object that is not there is forgotten": {prepare: (*rig).vanish, want: want{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.rest()
			r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
			r.freezeGate()
			if c.prepare != nil {
				c.prepare(r)
			}
			writes := len(r.writes)
			with := reconcile.Reconciler(r.Reconciler)
			if !c.once {
				with = r.Continuing(access.Key{})
			}
			_, err := with.Reconcile(r.Context(), reconcile.Request{NamespacedName: gateKey})
			got := want{Writes: r.writes[writes:], Failed: err != nil}
			if r.exists() {
				got.Lamp = r.entry("lamp").State
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReconcilerDoesNotCommitOnAStaleObject: a transition that is due on a version older than our last write is already taken.
func TestReconcilerDoesNotCommitOnAStaleObject(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
	r.freezeGate()
	r.pass()
	tries, writes := 0, len(r.writes)
	r.refuse = func(string) error { tries++; return nil }
	if after := r.pass().RequeueAfter; after <= 0 {
		t.Errorf("requeued after %s", after)
	}
	if tries > 0 || len(r.writes) > writes {
		t.Errorf("%d requests, writes %v, want none", tries, r.writes[writes:])
	}
}
