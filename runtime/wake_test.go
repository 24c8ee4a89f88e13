package runtime_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

func TestEveryDeclaredTimeFollowsTheScale(t *testing.T) {
	r := newRig(t, func(r *rig) { r.options.DeadlineScale = 0.1 })
	r.visit(inState(t, turnstile.AwaitingArm))
	if got := r.pass().RequeueAfter; got != 500*time.Millisecond {
		t.Errorf("a poll of 5s became %s", got)
	}
	entry := r.entry("model")
	if got := entry.Deadline.Sub(entry.EnteredAt.Time); got < 59*time.Second || got > 61*time.Second {
		t.Errorf("a deadline of 10m became %s", got)
	}
	r.site((*turnstile.Site).Release)
	r.rest()
	if got := r.pass().RequeueAfter; got != time.Minute {
		t.Errorf("a resync of 10m became %s", got)
	}
}

func TestAnActionWakesItsObject(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
	r.until(turnstile.Settled, turnstile.Switching)
	if got := r.pass().RequeueAfter; got <= 0 || got > time.Second {
		t.Errorf("looks again after %s, want within a second", got)
	}
}

func TestGoingRoundWithoutProgressSlowsDownAndStalls(t *testing.T) {
	r := newRig(t, func(r *rig) { r.kind.Lifecycles = append(r.kind.Lifecycles, spinning(r.T)) })
	start := r.clock.Now()
	for r.clock.Now().Sub(start) < 30*time.Minute {
		r.advance(r.pass().RequeueAfter)
	}
	if got := r.condition("Stalled"); got.Status != metav1.ConditionTrue || got.Reason != "NoProgress" {
		t.Errorf("Stalled is %s, %s", got.Status, got.Reason)
	}
	if got := r.entry("spinning").Edges; got < 10 || got > 30 {
		t.Errorf("%d transitions in half an hour", got)
	}
	if model, lamp := r.entry("model").State, r.entry("lamp").State; model != turnstile.Settled || lamp != turnstile.Lit {
		t.Errorf("the others stand in %s and %s", model, lamp)
	}
}

func TestAGenerationIsObservedOnlyWhenAllHaveDecided(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.site(func(s *turnstile.Site) { s.SealErr = turnstile.ErrUnreachable })
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
	r.until(turnstile.Settled, turnstile.Switching)
	r.until(turnstile.Settled, turnstile.Lit)
	r.quiet()
	got := r.gate()
	if got.Status.ObservedGeneration == got.Generation || r.condition("Ready").Status == metav1.ConditionTrue {
		t.Errorf("observed %d of %d, Ready %s, although the seal cannot be read", got.Status.ObservedGeneration, got.Generation, r.condition("Ready").Status)
	}
	r.site((*turnstile.Site).Release)
	r.rest()
	if got := r.gate(); got.Status.ObservedGeneration != got.Generation || r.condition("Ready").Status != metav1.ConditionTrue {
		t.Errorf("observed %d of %d, Ready %s", got.Status.ObservedGeneration, got.Generation, r.condition("Ready").Status)
	}
}
