package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

func inState(t *testing.T, name string) turnstile.Visit {
	t.Helper()
	for _, v := range turnstile.Visits() {
		if v.State == name {
			return v
		}
	}
	t.Fatalf("no visit to %s", name)
	return turnstile.Visit{}
}

// waitsFor returns what an entry shows of a guard in waitingFor.
func (r *rig) waitsFor(name, guard string) string {
	r.Helper()
	var saw []string
	for _, w := range r.entry(name).WaitingFor {
		if w.Guard == guard {
			saw = append(saw, w.Observed)
		}
	}
	return strings.Join(saw, "; ")
}

func TestReconcilerCommitsAFailedPrecondition(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Replacing))
	r.site(func(s *turnstile.Site) { s.Release(); s.Banned = []string{"B"} })
	done := r.world.Log(gateKey)
	r.pass()
	history := r.entry("model").History
	if last := history[len(history)-1]; last.Event != "precondition-failed" || last.To != turnstile.Checking {
		t.Errorf("last transition %+v", last)
	}
	if diff := cmp.Diff(done, r.world.Log(gateKey)); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	r.until(turnstile.Refused, turnstile.Lit)
}

func TestReconcilerReadsTheObjectLiveBeforeADestructiveAction(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Replacing))
	r.site((*turnstile.Site).Release)
	r.freezeGate()
	r.spec(func(s *api.TurnstileSpec) { s.Model = "A" }) // reverted, and the cache does not show it
	done := r.world.Log(gateKey)
	for range 20 {
		r.advance(r.pass().RequeueAfter)
	}
	if diff := cmp.Diff(done, r.world.Log(gateKey)); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	r.thaw()
	r.rest()
	if diff := cmp.Diff(done, r.world.Log(gateKey)); diff != "" {
		t.Errorf("effects after the cache caught up (-want +got):\n%s", diff)
	}
}

func TestReconcilerReadsNothingLiveForAnIdleDestructiveAction(t *testing.T) {
	r := newRig(t)
	r.rest()
	dirty, live := false, 0
	execute, snapshot := r.kind.Execute, r.kind.Observe
	r.kind.Lifecycles = append(slices.Clone(r.kind.Lifecycles), sweeping(t, &dirty))
	r.kind.Execute = func(ctx context.Context, request lifecycle.EffectRequest[*api.Turnstile, turnstile.Snapshot, turnstile.Effect]) error {
		if request.Effect.Op == "sweep" {
			return errors.New("the broom is gone")
		}
		return execute(ctx, request)
	}
	r.kind.Observe = func(ctx context.Context, g *api.Turnstile, request lifecycle.ObserveRequest) (turnstile.Snapshot, error) {
		if request.Live {
			live++
		}
		return snapshot(ctx, g, request)
	}
	r.restart()
	looks := func() int { // in twenty seconds
		live, r.liveGets = 0, 0
		for start := r.clock.Now(); r.clock.Now().Sub(start) < 20*time.Second; {
			r.advance(min(r.pass().RequeueAfter, time.Second))
		}
		return live + r.liveGets
	}
	if got := looks(); got != 0 || r.entry("sweeping").State != "Working" {
		t.Errorf("looked live %d times in %s", got, r.entry("sweeping").State)
	}
	dirty = true
	if got := looks(); got == 0 || r.waitsFor("sweeping", "action") != "action sweeping: the broom is gone" {
		t.Errorf("looked live %d times, shows %q", got, r.waitsFor("sweeping", "action"))
	}
	dirty = false // another process swept
	if got := looks(); got != 0 || r.waitsFor("sweeping", "action") != "" {
		t.Errorf("looked live %d times, shows %q", got, r.waitsFor("sweeping", "action"))
	}
}

func TestReconcilerReportsADisruptionOnACachedView(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.kind.Disrupts = func(turnstile.Effect) (string, bool) { return "everything", true }
	r.kind.Availability = func(*api.Turnstile, turnstile.Snapshot) lifecycle.Availability { return lifecycle.Availability{} }
	r.restart()
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" }) // the lamp's action has no Precondition
	r.until(turnstile.Settled, turnstile.Switching)
	r.quiet()
	if got := r.condition("Stalled"); got.Status != metav1.ConditionTrue || got.Reason != "Defect" {
		t.Errorf("Stalled is %s, %s: %s", got.Status, got.Reason, got.Message)
	}
	lamp := &corev1.ConfigMap{}
	if err := r.server.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "gate-lamp"}, lamp); err != nil || lamp.Data["colour"] != "red" {
		t.Errorf("the lamp shows %q, %v", lamp.Data["colour"], err)
	}
}

func TestReconcilerDisruptsOncePerAction(t *testing.T) {
	r := newRig(t)
	r.rest()
	var done []string
	execute := r.kind.Execute
	r.kind.Lifecycles = append(slices.Clone(r.kind.Lifecycles), greedy(t))
	r.kind.Disrupts = func(e turnstile.Effect) (string, bool) { return e.Arm, e.Op == "shove" }
	r.kind.Availability = func(*api.Turnstile, turnstile.Snapshot) lifecycle.Availability { return lifecycle.Availability{} }
	r.kind.Execute = func(ctx context.Context, request lifecycle.EffectRequest[*api.Turnstile, turnstile.Snapshot, turnstile.Effect]) error {
		if request.Effect.Op != "shove" {
			return execute(ctx, request)
		}
		done = append(done, request.Effect.Arm)
		return nil
	}
	r.restart()
	for range 3 { // its state is inferred, it goes to work, and shoves
		r.pass()
	}
	if diff := cmp.Diff([]string{"0"}, done); diff != "" {
		t.Errorf("shoved on one snapshot (-want +got):\n%s", diff)
	}
}

func TestReconcilerDisruptsNoOtherMemberAfterALostAnswer(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.spec(func(s *api.TurnstileSpec) { s.Model = "B" })
	r.lose = func(write string) error {
		if strings.HasPrefix(write, "delete") {
			r.lose = nil
			return errors.New("connection reset by peer")
		}
		return nil
	}
	r.writes = nil
	r.rest()
	if got := []int{count(r.writes, "delete gate-arm-0"), count(r.writes, "delete gate-arm-1")}; !slices.Equal(got, []int{1, 1}) {
		t.Errorf("deletes %v: %q", got, r.writes)
	}
}

func TestReconcilerShowsRepeatedConflictsOverAChild(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "gate-lamp", errors.New("changed"))
	r := newRig(t)
	r.visit(inState(t, turnstile.Switching))
	r.site(func(s *turnstile.Site) { s.Release(); s.Fails["switch"] = fmt.Errorf("updating: %w", conflict) })
	r.quiet()
	if got := r.waitsFor("lamp", "action"); !strings.Contains(got, "changed") {
		t.Errorf("shows %q", got)
	}
	if got := r.counter("detent_lifecycle_action_failures_total"); got != 0 {
		t.Errorf("%v failures", got)
	}
}

func TestReconcilerDefectDelaysNoOtherLifecycle(t *testing.T) {
	healed := false
	r := newRig(t, func(r *rig) {
		r.kind.Lifecycles = append([]turnstile.Lifecycle{panicking(r.T, &healed)}, r.kind.Lifecycles...)
	})
	r.until(turnstile.Settled, turnstile.Lit)
	r.quiet()
	stalled := r.condition("Stalled")
	if stalled.Status != metav1.ConditionTrue || stalled.Reason != "Defect" || !strings.Contains(stalled.Message, "broken: the machine is defective") {
		t.Errorf("Stalled is %s, %s: %s", stalled.Status, stalled.Reason, stalled.Message)
	}
	if got := r.condition("Reconciling").Status; got != metav1.ConditionFalse {
		t.Errorf("Reconciling is %s", got)
	}
	if got := r.counter("detent_lifecycle_defects_total"); got == 0 {
		t.Error("no defect was counted")
	}
	healed = true
	r.quiet()
	if got := r.condition("Stalled"); got.Status != metav1.ConditionFalse {
		t.Errorf("healed, and Stalled is %s, %s: %s", got.Status, got.Reason, got.Message)
	}
}

func TestReconcilerNamesAPanicOfTheKindAndDelaysNoOtherLifecycle(t *testing.T) {
	type kind = turnstile.Kind
	panicky := func(what string) error { panic(what) }
	for name, c := range map[string]struct {
		breaks func(*kind)
		want   string
	}{
		"execute": {func(k *kind) {
			execute := k.Execute
			k.Execute = func(ctx context.Context, request lifecycle.EffectRequest[*api.Turnstile, turnstile.Snapshot, turnstile.Effect]) error {
				if request.Effect.Op == "switch" {
					return panicky("no bulb")
				}
				return execute(ctx, request)
			}
		}, "action: action switch: executing the effect panicked: no bulb"},
		"apply": {func(k *kind) {
			k.Apply = func(context.Context, *api.Turnstile, turnstile.Snapshot, lifecycle.Writer) error {
				return panicky("no paper")
			}
		}, "Warning True ChildrenFailed: applying children: applying panicked: no paper"},
		"project": {func(k *kind) {
			k.Project = func(*api.Turnstile, turnstile.Snapshot, lifecycle.ProjectRequest) []metav1.Condition { panic("no ink") }
		}, "Ready False Defect: projecting panicked: no ink"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.rest()
			c.breaks(&r.kind)
			r.restart()
			r.spec(func(s *api.TurnstileSpec) { s.Model, s.Lamp = "B", "green" })
			for range 40 {
				r.advance(r.pass().RequeueAfter)
			}
			if got := r.entry("model"); got.State != turnstile.Settled || got.Attempt.To != "B" {
				t.Errorf("the other lifecycle stands in %s at %+v", got.State, got.Attempt)
			}
			var shown []string
			for _, w := range r.entry("lamp").WaitingFor {
				shown = append(shown, w.Guard+": "+w.Observed)
			}
			for _, w := range r.gate().Status.Conditions {
				shown = append(shown, fmt.Sprintf("%s %s %s: %s", w.Type, w.Status, w.Reason, w.Message))
			}
			if !slices.Contains(shown, c.want) {
				t.Errorf("%q is not among %q", c.want, shown)
			}
		})
	}
}
