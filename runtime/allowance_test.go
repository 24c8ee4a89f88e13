package runtime_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
	"github.com/detent-dev/detent/transitions"
)

// pacing is a lifecycle that moves in a loop through a Rest state while it is restless.
func pacing(t *testing.T, restless *bool) turnstile.Lifecycle {
	t.Helper()
	always := transitions.Always[toyFacts, struct{}]()
	wanted := toyGuard{Name: "wanted", Doc: "something is wanted", Expected: "a wish", Evaluate: func(*toyFacts, struct{}) transitions.Verdict {
		return transitions.If(*restless, "no wish")
	}}
	return bindToy(t, "pacing", []toyState{
		{State: states.State{Name: "Resting", Kind: states.Rest, Doc: "rests"}},
		{State: states.State{Name: "Checking", Kind: states.Wait, Doc: "checks", Deadline: time.Hour, Poll: 5 * time.Second}, Invariant: always, OnTargetChange: "Checking"},
	}, []toyRow{
		{Event: "wanted", From: "Resting", To: "Checking", NewAttempt: true, When: wanted, Doc: "wants"},
		{Event: "nothing", From: "Checking", To: "Resting", Awaited: true, When: always, Doc: "nothing to do"},
	}, 6)
}

// arm returns the child of that name.
func (r *rig) arm(arm string) *corev1.ConfigMap {
	r.Helper()
	child := &corev1.ConfigMap{}
	if err := r.server.Get(r.Context(), types.NamespacedName{Namespace: namespace, Name: "gate-arm-" + arm}, child); err != nil {
		r.Fatal(err)
	}
	return child
}

// loseArm deletes a child without the operator.
func (r *rig) loseArm(arm string) {
	r.Helper()
	if err := r.server.Delete(r.Context(), r.arm(arm)); err != nil {
		r.Fatal(err)
	}
}

// repairedWithin reconciles at every requeue until the arm exists again, and fails after the limit.
func (r *rig) repairedWithin(bound time.Duration, arm string) {
	r.Helper()
	creates := count(r.writes, "create gate-arm-"+arm)
	for end := r.clock.Now().Add(bound); !r.clock.Now().After(end); {
		result, err := r.try()
		if count(r.writes, "create gate-arm-"+arm) > creates {
			return
		}
		pause := result.RequeueAfter
		if err != nil {
			pause = time.Second
		}
		r.advance(pause)
	}
	r.Errorf("arm %s is not repaired within %s", arm, bound)
}

func TestPaceLimitsALoopThroughRestAndDelaysNoRepair(t *testing.T) {
	restless := false
	r := newRig(t, func(r *rig) { r.kind.Lifecycles = append(r.kind.Lifecycles, pacing(t, &restless)) })
	r.rest()
	restless = true
	r.loseArm("0")
	r.repairedWithin(5*time.Second, "0")
	start, before := r.clock.Now(), count(r.writes, "status")
	for r.clock.Now().Sub(start) < time.Hour {
		r.advance(r.pass().RequeueAfter)
		r.reported()
	}
	const burst, perHour, shown = 128, 60, 8
	if n := count(r.writes, "status") - before; n > burst+perHour+shown {
		t.Errorf("%d status writes in an hour", n)
	}
	if got := r.condition(lifecycle.Stalled); got.Status != metav1.ConditionTrue || got.Reason != lifecycle.TransitionsTooFrequent {
		t.Errorf("Stalled is %s, %s: %s", got.Status, got.Reason, got.Message)
	}
	r.loseArm("1")
	r.repairedWithin(5*time.Second, "1")
	restless = false
	for range 200 {
		r.advance(r.pass().RequeueAfter)
	}
	if got := r.condition(lifecycle.Ready); got.Status != metav1.ConditionTrue {
		t.Errorf("Ready is %s, %s after the loop has ended: %s", got.Status, got.Reason, got.Message)
	}
}

func TestBackOffWithoutProgressAfterTheClockWasSetBack(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.site(func(s *turnstile.Site) { s.Slow = true })
	r.spec(func(s *api.TurnstileSpec) { s.Model = "B" })
	r.until(turnstile.Checking, turnstile.Lit)
	r.site(func(s *turnstile.Site) { s.Slow = false })
	r.status(func(s *api.TurnstileStatus) {
		for i := range s.Lifecycles {
			s.Lifecycles[i].EnteredAt.Time = r.clock.Now().Add(time.Hour)
			s.Lifecycles[i].TransitionsSinceProgress = 100
		}
	})
	r.pass()
	if got := r.entry("model").State; got == turnstile.Checking {
		t.Error("the lifecycle waits until the clock shows the time at which it entered its state")
	}
}

func TestPaceLimitsAFlappingTargetAndReachesTheLastOne(t *testing.T) {
	r := newRig(t)
	r.rest()
	before, start := count(r.writes, "status"), r.clock.Now()
	for i := range 600 {
		r.spec(func(s *api.TurnstileSpec) { s.Model = []string{"B", "C"}[i%2] })
		r.advance(r.pass().RequeueAfter)
		r.reported()
	}
	took := r.clock.Now().Sub(start)
	const burst, perMinute = 128, 4
	if n := count(r.writes, "status") - before; n > burst+perMinute*int(took.Minutes()) {
		t.Errorf("%d status writes for 600 changes of the target in %s", n, took)
	}
	if got := r.condition(lifecycle.Stalled); got.Reason != lifecycle.TransitionsTooFrequent {
		t.Errorf("Stalled is %s, %s", got.Status, got.Reason)
	}
	r.loseArm("0")
	r.repairedWithin(5*time.Second, "0")
	for range 400 {
		r.advance(r.pass().RequeueAfter)
	}
	if got := r.condition(lifecycle.Ready); got.Status != metav1.ConditionTrue {
		t.Errorf("Ready is %s, %s in the end: %s", got.Status, got.Reason, got.Message)
	}
	if got := r.arm("0").Data["model"]; got != "C" {
		t.Errorf("the arm is of model %s in the end, want C", got)
	}
}

func TestPaceDoesNotSlowProgress(t *testing.T) {
	const arms = 100
	r := newRig(t, func(r *rig) {
		build := r.gate()
		build.Spec.Arms = arms
		if err := r.server.Update(t.Context(), build); err != nil {
			t.Fatal(err)
		}
	})
	pass := func(until func() bool) time.Duration {
		start := r.clock.Now()
		for range 20 * arms {
			if until() {
				return r.clock.Now().Sub(start)
			}
			r.advance(min(r.pass().RequeueAfter, time.Second))
			r.reported()
			if got := r.condition(lifecycle.Stalled); got.Reason == lifecycle.TransitionsTooFrequent {
				t.Fatalf("%s: %+v", got.Reason, r.entry("model").Progress)
			}
		}
		t.Fatalf("not done: %s, %+v", r.entry("model").State, r.entry("model").Progress)
		return 0
	}
	settled := func(model string) func() bool {
		return func() bool { return r.entry("model").State == turnstile.Settled && r.gate().Status.Sealed == model }
	}
	pass(settled("A"))
	r.spec(func(s *api.TurnstileSpec) { s.Model = "B" })
	before := r.entry("model").Transitions
	took := pass(settled("B"))
	if n := r.entry("model").Transitions - before; n < 2*arms {
		t.Errorf("only %d transitions for %d arms: this shows nothing", n, arms)
	}
	if took > 30*time.Minute {
		t.Errorf("took %s", took)
	}
}

func TestReconcilerRepairsWhileStatusWritesAreRejected(t *testing.T) {
	for _, code := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusInternalServerError} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			for name, change := range map[string]func(*rig){
				"a transition is due":  func(r *rig) { r.spec(func(s *api.TurnstileSpec) { s.Model = "B" }) },
				"a pause is to be set": func(r *rig) { r.annotate(lifecycle.PauseAnnotation, "true") },
				"a pause has ended": func(r *rig) {
					r.status(func(s *api.TurnstileStatus) {
						s.Conditions = append(s.Conditions, metav1.Condition{Type: lifecycle.Paused, Status: metav1.ConditionTrue, Reason: "Annotation", LastTransitionTime: metav1.Now()})
					})
				},
			} {
				t.Run(name, func(t *testing.T) {
					r := newRig(t)
					r.rest()
					r.reported()
					change(r)
					r.refuse = func(write string) error {
						if write == "status" {
							return apierrors.NewGenericServerResponse(code, "put", turnstiles, gate, "denied", 0, true)
						}
						return nil
					}
					r.loseArm("1")
					r.repairedWithin(5*time.Second, "1")
					for range 3 {
						if _, err := r.try(); err == nil {
							t.Error("a rejected write does not back off")
						}
					}
					if events := r.reported(); !slices.ContainsFunc(events, func(e string) bool { return strings.Contains(e, "StatusRefused") }) {
						t.Errorf("events %q, want the rejection", events)
					}
					r.refuse = nil
				})
			}
		})
	}
}

func TestReconcilerShowsAResourceThatIsNotServed(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.AwaitingArm))
	r.kind.Observe = func(context.Context, *api.Turnstile, lifecycle.ObserveRequest) (turnstile.Snapshot, error) {
		return turnstile.Snapshot{}, unserved()
	}
	r.restart()
	from, passes := r.clock.Now(), 0
	for r.clock.Now().Sub(from) < time.Minute {
		result, err := r.try()
		if err == nil {
			t.Fatalf("a world that is not served is taken for a deleted object: looks again after %s", result.RequeueAfter)
		}
		r.advance(time.Second)
		passes++
	}
	if got := r.condition(lifecycle.Stalled); got.Status != metav1.ConditionTrue || got.Reason != lifecycle.ObservationFailed {
		t.Errorf("Stalled is %s, %s after %d passes", got.Status, got.Reason, passes)
	}
}

func TestReconcilerReturnsNoErrorForADeletedObject(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.reported()
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
	r.freezeGate()
	if err := r.server.Delete(t.Context(), r.gate()); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		result, err := r.try()
		if err != nil || result.RequeueAfter == 0 {
			t.Errorf("error %v, looks again after %s", err, result.RequeueAfter)
		}
		r.advance(result.RequeueAfter)
	}
	if events := r.reported(); len(events) > 0 {
		t.Errorf("events %q", events)
	}
}

func TestObjectMissing(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no error":                   {nil, false},
		"the object does not exist":  {apierrors.NewNotFound(turnstiles, gate), true},
		"the resource is not served": {unserved(), false},
		"a conflict":                 {apierrors.NewConflict(turnstiles, gate, errors.New("changed")), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lifecycle.ObjectMissing(c.err); got != c.want {
				t.Errorf("missing is %v, want %v", got, c.want)
			}
		})
	}
}
