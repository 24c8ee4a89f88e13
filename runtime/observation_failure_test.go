package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// foggy is a rig whose observations fail as fails says.
func foggy(t *testing.T, fails *func(lifecycle.ObserveRequest) error) *rig {
	t.Helper()
	return newRig(t, func(r *rig) {
		request := r.kind.Observe
		r.kind.Observe = func(ctx context.Context, o *api.Turnstile, v lifecycle.ObserveRequest) (turnstile.Snapshot, error) {
			if err := (*fails)(v); err != nil {
				return turnstile.Snapshot{}, err
			}
			return request(ctx, o, v)
		}
	})
}

func seen(lifecycle.ObserveRequest) error { return nil }

// endure reconciles once a second for the duration, and expects every reconcile to fail.
func (r *rig) endure(d time.Duration) {
	r.Helper()
	for end := r.clock.Now().Add(d); r.clock.Now().Before(end); r.advance(time.Second) {
		if _, err := r.try(); err == nil {
			r.Fatal("a pass that cannot look at the world does not fail")
		}
	}
}

func TestReconcilerShowsFailedObservations(t *testing.T) {
	fails := seen
	r := foggy(t, &fails)
	r.rest()
	written := len(r.writes)
	fails = func(lifecycle.ObserveRequest) error { return errors.New("listing arms: forbidden") }
	since := "since " + r.clock.Now().UTC().Format(time.RFC3339) + ": "
	r.endure(10 * time.Second)
	if got := r.condition(lifecycle.Ready); got.Status != metav1.ConditionTrue || len(r.writes) != written {
		t.Errorf("a look that fails for a moment shows as %+v after %d writes", got, len(r.writes)-written)
	}
	r.endure(time.Minute)
	for kind, want := range map[string]metav1.ConditionStatus{
		lifecycle.Ready: metav1.ConditionFalse, lifecycle.Stalled: metav1.ConditionTrue, lifecycle.Reconciling: metav1.ConditionFalse,
	} {
		got := r.condition(kind)
		if got.Status != want || got.Reason != lifecycle.ObservationFailed {
			t.Errorf("%s is %s for %s, want %s", kind, got.Status, got.Reason, want)
		}
		if kind != lifecycle.Reconciling && (!strings.Contains(got.Message, "listing arms: forbidden") || !strings.Contains(got.Message, since)) {
			t.Errorf("%s does not say why, or not %q: %q", kind, since, got.Message)
		}
	}
	if n := len(r.writes) - written; n != 1 {
		t.Errorf("%d writes to say so once", n)
	}
	if got := r.entry("model").State; got != turnstile.Settled {
		t.Errorf("it moved to %s without looking", got)
	}
	fails = seen
	r.rest()
	if got := r.condition(lifecycle.Ready); got.Status != metav1.ConditionTrue {
		t.Errorf("afterwards Ready is %s: %s", got.Status, got.Message)
	}
	if got := r.condition(lifecycle.Stalled); got.Status != metav1.ConditionFalse {
		t.Errorf("afterwards Stalled is %s: %s", got.Status, got.Message)
	}
}

func TestReconcilerRepairsWhileObservationsFail(t *testing.T) {
	fails := seen
	r := foggy(t, &fails)
	r.rest()
	arm := types.NamespacedName{Namespace: namespace, Name: "gate-arm-1"}
	lost := &corev1.ConfigMap{}
	if err := r.server.Get(r.Context(), arm, lost); err != nil {
		t.Fatal(err)
	}
	if err := r.server.Delete(r.Context(), lost); err != nil {
		t.Fatal(err)
	}
	first := true
	fails = func(v lifecycle.ObserveRequest) error {
		if len(v.Needs) > 0 || first {
			first = false
			return errors.New("the world's page is torn")
		}
		return nil
	}
	if _, err := r.try(); err == nil {
		t.Error("the pass does not fail")
	}
	if err := r.server.Get(r.Context(), arm, &corev1.ConfigMap{}); err != nil {
		t.Errorf("it does not come back: %v", err)
	}
}
