package runtime_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

func TestCompareStoredStopsTransitionsOnAPrunedStatus(t *testing.T) {
	tests := map[string]struct {
		prune func(*api.TurnstileStatus)
		names string
	}{
		"the lifecycles are dropped": {
			prune: func(s *api.TurnstileStatus) { s.Lifecycles = nil },
			names: "does not store lifecycles of the status",
		},
		"a field of the conditions is dropped": {
			prune: func(s *api.TurnstileStatus) {
				for i := range s.Conditions {
					s.Conditions[i].ObservedGeneration = 0
				}
			},
			names: "does not store conditions[].observedGeneration of the status",
		},
		"data of a state is dropped": {
			prune: func(s *api.TurnstileStatus) {
				for i := range s.Lifecycles {
					s.Lifecycles[i].History = nil
				}
			},
			names: "does not store lifecycles[].history of the status",
		},
		"the count that numbers requests is dropped": {
			prune: func(s *api.TurnstileStatus) {
				for i := range s.Lifecycles {
					s.Lifecycles[i].Transitions = 0
				}
			},
			names: "does not store lifecycles[].transitions of the status",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			repairs := 0
			r := newRig(t, func(r *rig) {
				repair := r.kind.Repair
				r.kind.Repair = func(ctx context.Context, o *api.Turnstile, v turnstile.Snapshot, w lifecycle.Writer) error {
					repairs++
					return repair(ctx, o, v, w)
				}
				r.prune = tc.prune
			})
			for range 200 { // at least a minute at five passes a second
				r.pass()
				r.advance(300 * time.Millisecond)
			}
			writes := 0
			for _, w := range r.writes {
				if w == "status" {
					writes++
				}
			}
			if writes > 10 {
				t.Errorf("%d status writes in a minute", writes)
			}
			if repairs < 100 {
				t.Errorf("%d repairs in 200 passes: repair must not depend on the status", repairs)
			}
			stalled := r.condition(lifecycle.Stalled)
			if stalled.Status != metav1.ConditionTrue || stalled.Reason != lifecycle.StatusPruned || !strings.Contains(stalled.Message, tc.names) ||
				!strings.Contains(stalled.Message, "kubectl apply --server-side") {
				t.Errorf("Stalled %+v", stalled)
			}
			warnings := 0
			for _, e := range r.reported() {
				if strings.Contains(e, lifecycle.StatusPruned) {
					warnings++
				}
			}
			got := []any{warnings, r.counter("detent_lifecycle_pruned_writes_total") > 0}
			if diff := cmp.Diff([]any{1, true}, got); diff != "" {
				t.Errorf("events and metric (-want +got):\n%s", diff)
			}

			r.prune = nil
			r.advance(5 * time.Minute)
			r.rest()
			if stalled := r.condition(lifecycle.Stalled); stalled.Status != metav1.ConditionFalse {
				t.Errorf("the definitions were installed, Stalled %+v", stalled)
			}
		})
	}
}

func TestCompareStoredAcceptsAnotherWriter(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
	r.pass()
	r.status(func(s *api.TurnstileStatus) { s.Lifecycles = nil })
	r.rest()
	if got := r.counter("detent_lifecycle_pruned_writes_total"); got != 0 {
		t.Errorf("%v writes counted as pruned, although the status was wiped by another writer", got)
	}
}
