package runtime_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

func TestDeadlineScaleAppliesToEveryDeclaredTime(t *testing.T) {
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

func TestReconcilerRequeuesAfterAnAction(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
	r.until(turnstile.Settled, turnstile.Switching)
	if got := r.pass().RequeueAfter; got <= 0 || got > time.Second {
		t.Errorf("looks again after %s, want within a second", got)
	}
}

func TestReconcilerSlowsAndStallsALoopWithoutProgress(t *testing.T) {
	r := newRig(t, func(r *rig) { r.kind.Lifecycles = append(r.kind.Lifecycles, spinning(r.T)) })
	start := r.clock.Now()
	for r.clock.Now().Sub(start) < 30*time.Minute {
		r.advance(r.pass().RequeueAfter)
	}
	if got := r.condition("Stalled"); got.Status != metav1.ConditionTrue || got.Reason != "NoProgress" {
		t.Errorf("Stalled is %s, %s", got.Status, got.Reason)
	}
	if got := r.entry("spinning").TransitionsSinceProgress; got < 10 || got > 30 {
		t.Errorf("%d transitions in half an hour", got)
	}
	if model, lamp := r.entry("model").State, r.entry("lamp").State; model != turnstile.Settled || lamp != turnstile.Lit {
		t.Errorf("the others stand in %s and %s", model, lamp)
	}
}

func TestReconcilerObservesAGenerationOnceAllLifecyclesDecided(t *testing.T) {
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

func TestReconcilerShowsAnUnknownOutcomeAtRest(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.site(func(s *turnstile.Site) { s.SealErr = turnstile.ErrUnreachable })
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
	r.until(turnstile.Settled, turnstile.Switching)
	r.until(turnstile.Settled, turnstile.Lit)
	r.quiet()
	entry := r.entry("model")
	if len(entry.WaitingFor) == 0 || entry.UnknownSince == nil || entry.Deadline == nil {
		t.Fatalf("rests with waitingFor %v, unknown since %v, until %v", entry.WaitingFor, entry.UnknownSince, entry.Deadline)
	}
	if got := entry.WaitingFor[0]; got.Guard == "" || !strings.Contains(got.Observed, turnstile.ErrUnreachable.Error()) {
		t.Errorf("shows %+v, want the guard and the error", got)
	}
	if got := r.condition("Ready"); got.Reason != "Deciding" || !strings.Contains(got.Message, entry.WaitingFor[0].Observed) {
		t.Errorf("Ready is %s: %s", got.Reason, got.Message)
	}
	r.writes = nil
	for r.clock.Now().Before(entry.Deadline.Time) {
		r.advance(r.pass().RequeueAfter)
	}
	if len(r.writes) > 0 {
		t.Errorf("written while nothing changed: %q", r.writes)
	}
	r.pass()
	if got := r.condition("Stalled"); got.Status != metav1.ConditionTrue || got.Reason != "DeadlinePassed" {
		t.Errorf("Stalled is %s, %s after the deadline", got.Status, got.Reason)
	}
	r.site((*turnstile.Site).Release)
	r.rest()
	if got := r.entry("model"); got.UnknownSince != nil || got.Deadline != nil || len(got.WaitingFor) > 0 {
		t.Errorf("still shows waitingFor %v, unknown since %v, until %v", got.WaitingFor, got.UnknownSince, got.Deadline)
	}
	if got := r.condition("Ready"); got.Status != metav1.ConditionTrue {
		t.Errorf("Ready is %s, %s", got.Status, got.Reason)
	}
}

func TestReconcilerDoesNotShowAPendingAnswerAtRest(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.site(func(s *turnstile.Site) { s.Slow = true })
	r.writes = nil
	for range 20 {
		r.advance(r.pass().RequeueAfter)
	}
	if len(r.writes) > 0 {
		t.Errorf("written while answers are pending: %q", r.writes)
	}
}

// What a guard at rest does not know is read again, even if the answer does not requeue the object.
func TestReconcilerRequeuesWhileAnAnswerIsPendingAtRest(t *testing.T) {
	r := newRig(t)
	r.rest()
	if got := r.pass().RequeueAfter; got != 10*time.Minute {
		t.Errorf("requeued after %s at rest", got)
	}
	r.site(func(s *turnstile.Site) { s.Slow = true })
	if got := r.pass().RequeueAfter; got != states.DefaultPoll {
		t.Errorf("requeued after %s while an answer is pending, want %s", got, states.DefaultPoll)
	}
}
