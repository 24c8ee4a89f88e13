package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

func TestRepairRestoresALostChildInEveryState(t *testing.T) {
	eachVisit(t, func(r *rig, _ turnstile.Visit) {
		arm := types.NamespacedName{Namespace: namespace, Name: "gate-arm-1"}
		lost := &corev1.ConfigMap{}
		if err := r.server.Get(r.Context(), arm, lost); err != nil {
			r.Fatal(err)
		}
		if err := r.server.Delete(r.Context(), lost); err != nil {
			r.Fatal(err)
		}
		for range 4 {
			r.pass()
		}
		back := &corev1.ConfigMap{}
		if err := r.server.Get(r.Context(), arm, back); err != nil || back.Data["model"] != lost.Data["model"] {
			r.Errorf("came back as %q, %v; want %q", back.Data["model"], err, lost.Data["model"])
		}
	})
}

func TestChildrenFailedHidesNothing(t *testing.T) {
	r := newRig(t)
	start := r.clock.Now()
	r.site(func(s *turnstile.Site) { s.Fails["apply"] = errors.New("quota exceeded") })
	for r.clock.Now().Sub(start) < 5*time.Minute {
		r.advance(r.pass().RequeueAfter)
	}
	if got := r.condition("Warning"); got.Reason != lifecycle.ChildrenFailed || got.Message != "applying children: quota exceeded" {
		t.Errorf("Warning is %s: %s", got.Reason, got.Message)
	}
	if got := r.entry("lamp"); got.State != turnstile.Lit || got.Attempt.To != "red" {
		t.Errorf("the lamp stands in %s at %+v", got.State, got.Attempt)
	}
	if got := r.counter("detent_lifecycle_action_failures_total"); got < 5 || got > 16 { // a lifecycle under way polls
		t.Errorf("tried %v times in five minutes", got)
	}
	r.site((*turnstile.Site).Release)
	r.advance(5 * time.Minute)
	r.rest()
	if got := r.condition("Warning"); got.Type != "" {
		t.Errorf("still warns of %s: %s", got.Reason, got.Message)
	}
}

// A corrected spec does not wait after the generation that failed. The same generation waits a moment, and not for the end of the back-off: what
// the kind wants now may have changed.
func TestChildrenAreTriedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		step    string
		edited  bool
		later   time.Duration
		applies bool
	}{
		"an apply, and a later reconcile": {step: "apply", later: 30 * time.Second, applies: true},
		"a repair, and a later reconcile": {step: "repair", later: 30 * time.Second, applies: true},
		"an apply, and an edited spec":    {step: "apply", edited: true, applies: true},
		"an apply, and the same spec":     {step: "apply"},
		"a repair, and an edited spec":    {step: "repair", edited: true, applies: true},
		"a repair, and the same spec yet": {step: "repair"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.rest()
			r.pass()
			failure := errors.New("quota exceeded")
			repair, apply, applied := r.kind.Repair, r.kind.Apply, 0
			r.kind.Repair = func(ctx context.Context, g *api.Turnstile, v turnstile.Snapshot, w lifecycle.Writer) error {
				if tc.step == "repair" && failure != nil {
					return failure
				}
				return repair(ctx, g, v, w)
			}
			r.kind.Apply = func(ctx context.Context, g *api.Turnstile, v turnstile.Snapshot, w lifecycle.Writer) error {
				if tc.step == "apply" && failure != nil {
					return failure
				}
				applied++
				return apply(ctx, g, v, w)
			}
			r.restart()
			for range 8 { // the back-off grows
				r.advance(r.pass().RequeueAfter)
			}
			if after := r.pass().RequeueAfter; after < time.Minute { // which begins another pause
				t.Errorf("without another reconcile it is tried again after %s", after)
			}
			failure, applied = nil, 0
			r.advance(tc.later)
			if tc.edited {
				r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
			}
			for range 10 { // children are not applied in the pass of an action
				r.pass()
				r.advance(100 * time.Millisecond)
			}
			if got := applied > 0; got != tc.applies {
				t.Errorf("applied within the back-off: %v, want %v", got, tc.applies)
			}
		})
	}
}

// Desired children that cannot be applied do not delay the repair of lost ones.
func TestRepairIsNotDelayedByAFailingApply(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.site(func(s *turnstile.Site) { s.Fails["apply"] = errors.New("quota exceeded") })
	for range 8 { // back-off grows
		r.advance(r.pass().RequeueAfter)
	}
	arm := types.NamespacedName{Namespace: namespace, Name: "gate-arm-1"}
	lost := &corev1.ConfigMap{}
	if err := r.server.Get(t.Context(), arm, lost); err != nil {
		t.Fatal(err)
	}
	if err := r.server.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	r.pass()
	if err := r.server.Get(t.Context(), arm, &corev1.ConfigMap{}); err != nil {
		t.Errorf("what was lost is not back after a pass: %v", err)
	}
}

// Children are applied after a repair that failed only if nothing else depends on what failed, by the same attempt.
func TestApplyFollowsARepairThatFailedApart(t *testing.T) {
	errQuota := errors.New("quota exceeded")
	for name, tc := range map[string]struct {
		err, next error
		want      int
	}{
		"nothing depends on it":                 {lifecycle.Apart(errQuota), lifecycle.Apart(errQuota), 2},
		"nothing depends on what is waited for": {lifecycle.Apart(fmt.Errorf("a label: %w", lifecycle.ErrWait)), lifecycle.Apart(errQuota), 3}, // a wait has no pause
		"the rest depends on it":                {errQuota, errQuota, 0},
		"then the rest depends on it":           {lifecycle.Apart(errQuota), errQuota, 1},
		"then the cache is stale":               {lifecycle.Apart(errQuota), lifecycle.ErrStale, 1},
		"then another one has written":          {lifecycle.Apart(errQuota), apierrors.NewConflict(schema.GroupResource{}, "a", errQuota), 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.rest()
			applied, apply, err := 0, r.kind.Apply, tc.err
			r.kind.Repair = func(context.Context, *api.Turnstile, turnstile.Snapshot, lifecycle.Writer) error { return err }
			r.kind.Apply = func(ctx context.Context, g *api.Turnstile, v turnstile.Snapshot, w lifecycle.Writer) error {
				applied++
				return apply(ctx, g, v, w)
			}
			r.restart()
			r.pass()
			r.pass() // too soon to repair, and so to apply
			err = tc.next
			r.advance(5 * time.Second)
			r.pass()
			if applied != tc.want {
				t.Errorf("applied %d times, want %d", applied, tc.want)
			}
		})
	}
	if err := lifecycle.Apart(nil); err != nil {
		t.Errorf("without an error: %v", err)
	}
}

func TestApplyIsSkippedAfterAnAction(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Replacing))
	applied, apply := 0, r.kind.Apply
	r.kind.Apply = func(ctx context.Context, g *api.Turnstile, v turnstile.Snapshot, w lifecycle.Writer) error {
		applied++
		return apply(ctx, g, v, w)
	}
	r.restart()
	r.pass()
	if applied != 1 {
		t.Errorf("applied %d times in a pass whose action had to wait, want once", applied)
	}
	r.site((*turnstile.Site).Release)
	r.pass()
	if diff := cmp.Diff([]string{"replace 0 B"}, r.world.Log(gateKey)[1:]); diff != "" {
		t.Fatalf("effects (-want +got):\n%s", diff)
	}
	if applied != 1 {
		t.Error("applied in the pass whose action had just changed the world")
	}
}

func TestRepairThatFailsAtRestIsRetriedSoon(t *testing.T) {
	r := newRig(t)
	r.rest()
	lost := &corev1.ConfigMap{}
	if err := r.server.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: "gate-arm-1"}, lost); err != nil {
		t.Fatal(err)
	}
	if err := r.server.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	r.refuse = func(write string) error {
		if write == "status" {
			return nil
		}
		return errors.New("the server is overloaded")
	}
	var pauses []time.Duration
	for range 4 {
		after := r.pass().RequeueAfter
		pauses = append(pauses, after)
		r.advance(after)
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}, pauses); diff != "" {
		t.Errorf("tried again after (-want +got):\n%s", diff)
	}
}

func TestRepairRequeues(t *testing.T) {
	r := newRig(t)
	r.rest()
	lost := &corev1.ConfigMap{}
	if err := r.server.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: "gate-arm-1"}, lost); err != nil {
		t.Fatal(err)
	}
	if err := r.server.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	if got := r.pass().RequeueAfter; got > time.Second {
		t.Errorf("looks again after %s, want within a second", got)
	}
	if got := r.pass().RequeueAfter; got < time.Minute {
		t.Errorf("with nothing left to repair it looks again after %s", got)
	}
}
