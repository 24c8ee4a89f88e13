package runtime_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// refusesFinalizer makes the API server refuse every change of the finalizers.
func (r *rig) refusesFinalizer() {
	r.refuse = func(write string) error {
		if write == "patch "+gate {
			return apierrors.NewForbidden(api.GroupVersion.WithResource("turnstiles").GroupResource(), gate, errors.New("a policy denied it"))
		}
		return nil
	}
}

func TestDeletionWhoseFinalizerIsRefusedIsShownAndStopsNothingElse(t *testing.T) {
	r := newRig(t)
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
	r.refusesFinalizer()
	r.until(turnstile.Sealing, turnstile.Lit)
	r.loseArm("0")
	r.repairedWithin(5*time.Second, "0")
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "blue" })
	r.quiet()
	if model, lamp := r.entry("model"), r.entry("lamp"); model.State != turnstile.Sealing || lamp.State != turnstile.Lit || r.sealed() != "" {
		t.Errorf("in %s and %s, sealed for %q; want the lamp to be switched and nothing to be sealed", model.State, lamp.State, r.sealed())
	}
	waits := slices.ContainsFunc(r.entry("model").WaitingFor, func(w lifecyclev1.WaitingFor) bool {
		return w.Guard == lifecycle.ActionGuard && strings.Contains(w.Observed, "adding the finalizer") && strings.Contains(w.Observed, "a policy denied it")
	})
	if !waits {
		t.Errorf("waits for %+v", r.entry("model").WaitingFor)
	}
	r.advance(11 * time.Minute)
	r.quiet()
	if got := r.condition(lifecycle.Stalled); got.Status != metav1.ConditionTrue {
		t.Errorf("Stalled is %s after the deadline", got.Status)
	}
	r.refuse = nil
	r.advance(5 * time.Minute)
	r.rest()
	if r.sealed() == "" {
		t.Error("nothing is sealed although the finalizer is permitted")
	}
}

func TestDeletionWhoseFinalizerCannotBeRemovedIsShown(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.refusesFinalizer()
	r.remove()
	r.reported()
	var attempts []time.Time
	refuse := r.refuse
	r.refuse = func(write string) error {
		if write == "patch "+gate {
			attempts = append(attempts, r.clock.Now())
		}
		return refuse(write)
	}
	start := r.clock.Now()
	for r.clock.Now().Sub(start) < time.Hour {
		r.advance(r.pass().RequeueAfter)
	}
	for _, want := range []metav1.Condition{
		{Type: lifecycle.Ready, Status: metav1.ConditionFalse, Reason: lifecycle.FinalizerFailed},
		{Type: lifecycle.Stalled, Status: metav1.ConditionTrue, Reason: lifecycle.FinalizerFailed},
	} {
		got := r.condition(want.Type)
		if got.Status != want.Status || got.Reason != want.Reason || !strings.Contains(got.Message, "a policy denied it") {
			t.Errorf("condition %+v, want %+v", got, want)
		}
	}
	warnings := 0
	for _, e := range r.reported() {
		if strings.Contains(e, lifecycle.FinalizerFailed) {
			warnings++
		}
	}
	if warnings != 1 || len(attempts) < 3 || len(attempts) > 30 {
		t.Errorf("%d events and %d attempts in an hour, want one event and a back-off", warnings, len(attempts))
	}
	r.refuse = nil
	r.untilGone()
}
