package runtime_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
	"github.com/detent-dev/detent/transitions"
)

var turnstiles = schema.GroupResource{Group: api.GroupVersion.Group, Resource: "turnstiles"}

// onStatus replaces the response to the next status write, or the response to one that was carried out.
func (r *rig) onStatus(err error, carriedOut bool) {
	hook := func(write string) error {
		if write != "status" {
			return nil
		}
		r.refuse, r.lose = nil, nil
		return err
	}
	if carriedOut {
		r.lose = hook
	} else {
		r.refuse = hook
	}
}

// unserved is the response of an API server that does not serve the resource.
func unserved() error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "put", turnstiles, gate, "the server could not find the requested resource", 0, true)
}

func TestReconcilerHandlesStatusWriteErrors(t *testing.T) {
	type want struct {
		err, silent bool // the reconcile fails; no event is sent
		rejected    float64
	}
	for name, c := range map[string]struct {
		answer     error
		carriedOut bool
		want       want
	}{
		"conflict":                      {apierrors.NewConflict(turnstiles, gate, errors.New("changed")), false, want{silent: true}},
		"not found, although it exists": {apierrors.NewNotFound(turnstiles, gate), false, want{err: true, rejected: 1}},
		"no status subresource":         {unserved(), false, want{err: true, rejected: 1}},
		"forbidden":                     {apierrors.NewForbidden(turnstiles, gate, errors.New("illegal transition")), false, want{err: true, rejected: 1}},
		"too large":                     {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), false, want{err: true, rejected: 1}},
		"invalid":                       {apierrors.NewInvalid(schema.GroupKind{Kind: "Turnstile"}, gate, nil), false, want{err: true, rejected: 1}},
		"server error":                  {apierrors.NewInternalError(errors.New("oops")), false, want{err: true, silent: true}},
		"lost on the way":               {errors.New("connection reset by peer"), false, want{err: true, silent: true}},
		"answer was lost":               {errors.New("connection reset by peer"), true, want{err: true, silent: true}},
		"timed out, done":               {apierrors.NewTimeoutError("late", 1), true, want{err: true, silent: true}},
		"throttled, later":              {apierrors.NewTooManyRequests("later", 1), false, want{err: true, silent: true}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.rest()
			r.reported()
			done := r.world.Log(gateKey)
			r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
			r.onStatus(c.answer, c.carriedOut)
			result, err := r.try()
			if (err != nil) != c.want.err || err == nil && result.RequeueAfter == 0 {
				t.Errorf("error %v, looks again after %s", err, result.RequeueAfter)
			}
			if events := r.reported(); (len(events) == 0) != c.want.silent {
				t.Errorf("events %q", events)
			}
			if got := r.counter("detent_lifecycle_rejected_transitions_total"); got != c.want.rejected {
				t.Errorf("%v writes counted as refused, want %v", got, c.want.rejected)
			}
			r.liveGets = 0
			r.rest()
			if c.carriedOut && r.liveGets == 0 {
				t.Error("acted after a write of unknown outcome without asking the server")
			}
			if diff := cmp.Diff(done, r.world.Log(gateKey)); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReconcilerDelaysAProjection(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Selecting))
	saw := func() string { return r.waitsFor("model", "next-arm") }
	if got := saw(); got != "not turning: arm 1" {
		t.Fatalf("waits for %q", got)
	}
	r.advance(time.Minute)
	r.writes = nil
	change := func(err error) { r.site(func(s *turnstile.Site) { s.UpErr = err }) }
	var at []time.Duration
	start := r.clock.Now()
	for i := range 40 {
		change([]error{errors.New("one"), errors.New("two")}[i%2])
		before := len(r.writes)
		r.advance(min(r.pass().RequeueAfter, time.Second))
		if len(r.writes) > before {
			at = append(at, r.clock.Now().Sub(start).Truncate(time.Second))
		}
	}
	for i := 1; i < len(at); i++ {
		if at[i]-at[i-1] < 10*time.Second {
			t.Errorf("written %v after the start", at)
		}
	}
	if len(at) < 3 {
		t.Errorf("written only %v after the start", at)
	}
	change(nil)
	r.quiet()
	if got := saw(); got != "not turning: arm 1" {
		t.Errorf("in the end waits for %q", got)
	}
	if got, want := r.counter("detent_lifecycle_projection_writes_total"), float64(len(at)+1); got != want {
		t.Errorf("%v projections counted, want %v", got, want)
	}
}

func TestReconcilerRequeuesForADelayedProjection(t *testing.T) {
	r := newRig(t)
	message, project := "before", r.kind.Project
	r.kind.Project = func(g *api.Turnstile, v turnstile.Snapshot, request lifecycle.ProjectRequest) []metav1.Condition {
		own := project(g, v, request)
		own[0].Message = message
		return own
	}
	r.restart()
	r.rest() // the last transition has just been written
	message = "after"
	if got := r.pass().RequeueAfter; got > 10*time.Second {
		t.Errorf("looks again after %s, want when it may be written", got)
	}
	if got := r.condition("Available").Message; got != "before" {
		t.Errorf("written at once: %s", got)
	}
	r.advance(10 * time.Second)
	r.pass()
	if got := r.condition("Available").Message; got != "after" {
		t.Errorf("not written when it may be: %s", got)
	}
}

func TestReconcilerWritesStalledAtTheDeadline(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.AwaitingArm))
	deadline := r.entry("model").Deadline.Time
	r.advance(1700 * time.Millisecond) // out of step with the polls
	for r.clock.Now().Before(deadline) {
		if got := r.condition("Stalled").Status; got != metav1.ConditionFalse {
			t.Fatalf("Stalled is %s %s before the deadline", got, deadline.Sub(r.clock.Now()))
		}
		r.advance(r.pass().RequeueAfter)
	}
	if late := r.clock.Now().Sub(deadline); late > time.Second {
		t.Errorf("woke %s after the deadline", late)
	}
	r.pass()
	if got := r.condition("Stalled"); got.Status != metav1.ConditionTrue || got.Reason != "DeadlinePassed" {
		t.Errorf("Stalled is %s, %s", got.Status, got.Reason)
	}
	if got := r.entry("model").State; got != turnstile.AwaitingArm {
		t.Errorf("a deadline caused a transition to %s", got)
	}
	r.site((*turnstile.Site).Release)
	r.rest()
}

func TestReconcilerCutsWaitingForToTheSchema(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Sealing))
	r.site(func(s *turnstile.Site) {
		s.Release()
		s.Slow = true // answers are pending: the shown status stays
		s.Fails["seal"] = errors.New(strings.Repeat("ä", 2000))
	})
	for range 30 {
		r.advance(r.pass().RequeueAfter + 10*time.Second)
	}
	waiting := r.entry("model").WaitingFor
	actions := 0
	for _, w := range waiting {
		if w.Guard == "action" {
			actions++
		}
		if len(w.Observed) > 512 {
			t.Errorf("%s saw %d bytes", w.Guard, len(w.Observed))
		}
	}
	if actions != 1 || len(waiting) > 8 {
		t.Errorf("%d lines, %d of them of the action", len(waiting), actions)
	}
}

func TestConditionsUseEveryStoredEntry(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.AwaitingArm))
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
	r.until(turnstile.AwaitingArm, turnstile.Switching)
	r.until(turnstile.AwaitingArm, turnstile.Lit)
	if got := r.condition("Ready"); got.Status != metav1.ConditionFalse || got.Reason != turnstile.AwaitingArm {
		t.Errorf("Ready is %s, %s although an arm is awaited", got.Status, got.Reason)
	}
}

func TestCommitWritesWaitingForOfTheNextState(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.site(func(s *turnstile.Site) { s.Down = []string{"0"} })
	r.spec(func(s *api.TurnstileSpec) { s.Model = "B" })
	r.until(turnstile.AwaitingArm, turnstile.Lit)
	want := []lifecyclev1.WaitingFor{{Guard: "arm-up", Expected: "the selected arm turning", Observed: "arm 0 does not turn"}}
	if diff := cmp.Diff(want, r.entry("model").WaitingFor); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCommitSendsEventsAfterTheWrite(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.reported()
	r.site(func(s *turnstile.Site) { s.Banned = []string{"B"} })
	r.spec(func(s *api.TurnstileSpec) { s.Model = "B" })
	r.onStatus(errors.New("lost"), false)
	if _, err := r.try(); err == nil || len(r.reported()) > 0 {
		t.Error("an event reported a transition that was not committed")
	}
	r.until(turnstile.Refused, turnstile.Lit)
	want := []string{
		corev1.EventTypeNormal + " EnteredChecking model-changed from Settled: model B: in-catalog: B is not in the catalog; 0 of 2 arms done",
		corev1.EventTypeWarning + " EnteredRefused refused from Checking: model B: in-catalog: B is not in the catalog",
	}
	if diff := cmp.Diff(want, r.reported()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A transition is quiet if its row says so. Of a loop without progress every power of two is reported, with its number.
func TestCommitSendsNoEventsOfQuietTransitionsAndFoldsLoops(t *testing.T) {
	r := newRig(t, func(r *rig) { r.kind.Lifecycles = append(r.kind.Lifecycles, spinning(r.T)) })
	r.rest()
	taken, said := int32(0), []string{}
	for taken < 100 {
		r.pass()
		r.advance(10 * time.Minute)
		entry := r.entry("spinning")
		taken = entry.Transitions
		for _, e := range r.reported() {
			if strings.Contains(e, "EnteredLeft left from Right") {
				t.Errorf("a quiet transition is reported: %s", e)
			}
			if _, rest, ok := strings.Cut(e, "EnteredRight right from Left: spinning there: on the way"); ok {
				said = append(said, strings.TrimSpace(rest))
			}
		}
	}
	want := []string{"", "", "", "", "", "", "", "", "(16 times without progress)", "(32 times without progress)"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("what is added to the events (-want +got):\n%s", diff)
	}
}

func TestNoteFitsAnEvent(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.reported()
	r.damage(turnstile.Visit{Lifecycle: "lamp"}, func(e *lifecyclev1.Lifecycle) { e.State = strings.Repeat("x", 1200) })
	r.pass()
	for _, e := range r.reported() {
		if note := strings.TrimPrefix(e, "Normal EnteredLit "); len(note) > 1024 {
			t.Errorf("%d bytes", len(note))
		}
	}
}

// TestCommitOfAnInferredState stores a state that this build does not know, while no guard of the inferred one can be evaluated.
func TestCommitOfAnInferredState(t *testing.T) {
	answer := transitions.Deny("here")
	gone := toyGuard{Name: "gone", Doc: "it left", Expected: "a departure", Evaluate: func(*toyFacts, struct{}) transitions.Verdict { return answer }}
	r := newRig(t, func(r *rig) {
		r.kind.Lifecycles = append(r.kind.Lifecycles, bindToy(r.T, "guest",
			[]toyState{{State: states.State{Name: "Here", Kind: states.Rest, Doc: "here"}}, {State: states.State{Name: "Away", Kind: states.Rest, Doc: "away"}}},
			[]toyRow{
				{Event: "go", From: "Here", To: "Away", When: gone, Doc: "goes"},
				{Event: "back", From: "Away", To: "Here", When: transitions.Not(gone, "a return"), Doc: "comes back"},
			}, 0))
	})
	r.rest()
	answer = transitions.Verdict{Observed: "no answer"}
	r.status(func(s *api.TurnstileStatus) {
		for i := range s.Lifecycles {
			if s.Lifecycles[i].Name == "guest" {
				s.Lifecycles[i].State = "Upstairs"
			}
		}
	})
	show := func() [3]any {
		r.pass()
		r.pass()
		return [3]any{r.entry("guest").State, string(r.condition(lifecycle.Ready).Status), r.gate().Status.ObservedGeneration}
	}
	if diff := cmp.Diff([3]any{"Here", "False", int64(0)}, show()); diff != "" {
		t.Errorf("without an answer (-want +got):\n%s", diff)
	}
	answer = transitions.Deny("here")
	if diff := cmp.Diff([3]any{"Here", "True", int64(1)}, show()); diff != "" {
		t.Errorf("with an answer (-want +got):\n%s", diff)
	}
}
