package runtime_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

var pauses = []string{lifecycle.PauseAnnotation, turnstile.PauseAnnotation}

func TestPauseAddsOneConditionAndNothingElse(t *testing.T) {
	eachVisit(t, func(r *rig, _ turnstile.Visit) {
		for _, annotation := range pauses {
			before := r.gate().Status
			r.writes = nil
			r.annotate(annotation, "true")
			for range 5 {
				r.advance(r.pass().RequeueAfter)
			}
			after := r.gate().Status
			paused := r.condition("Paused")
			if paused.Status != metav1.ConditionTrue {
				r.Errorf("Paused is %q", paused.Status)
			}
			if diff := cmp.Diff([]string{"status"}, r.writes); diff != "" {
				r.Errorf("writes (-want +got):\n%s", diff)
			}
			after.Conditions = without(after.Conditions, "Paused")
			if diff := cmp.Diff(before, after); diff != "" {
				r.Errorf("status (-before +after):\n%s", diff)
			}
			r.annotate(annotation, "")
			r.quiet()
			if r.condition("Paused").Type != "" {
				r.Error("the condition outlived the pause")
			}
		}
	})
}

func without(list []metav1.Condition, kind string) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range list {
		if c.Type != kind {
			out = append(out, c)
		}
	}
	return out
}

func TestResumeExtendsTheDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		late time.Duration // after the deadline the pause begins
		long time.Duration
	}{
		"a short pause":                         {-5 * time.Minute, time.Minute},
		"a pause over the deadline":             {-5 * time.Minute, time.Hour},
		"a pause that begins after it":          {5 * time.Minute, time.Hour},
		"a pause that ends within its own time": {-time.Minute, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.visit(inState(t, turnstile.AwaitingArm))
			deadline := r.entry("model").Deadline.Time
			r.clock.SetTime(deadline.Add(c.late))
			r.quiet()
			left := r.entry("model").Deadline.Sub(r.clock.Now())
			r.annotate(lifecycle.PauseAnnotation, "true")
			r.pass()
			r.advance(c.long)
			r.pass()
			r.annotate(lifecycle.PauseAnnotation, "")
			r.pass()
			if got := r.entry("model").Deadline.Sub(r.clock.Now()); got.Round(time.Second) != left.Round(time.Second) {
				t.Errorf("%s are left, want %s", got, left)
			}
			r.pass()
			want := metav1.ConditionFalse
			if c.late > 0 {
				want = metav1.ConditionTrue
			}
			if got := r.condition("Stalled").Status; got != want {
				t.Errorf("Stalled is %s, want %s", got, want)
			}
		})
	}
}

func TestResumeAfterTheClockWasSetBack(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.AwaitingArm))
	r.annotate(lifecycle.PauseAnnotation, "true")
	r.pass()
	before := r.entry("model").Deadline
	r.advance(-time.Hour)
	r.annotate(lifecycle.PauseAnnotation, "")
	r.pass()
	if diff := cmp.Diff(before, r.entry("model").Deadline); diff != "" {
		t.Errorf("deadline (-want +got):\n%s", diff)
	}
}

func TestPauseRepairsAndTakesNoTransition(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.AwaitingArm))
	r.annotate(lifecycle.PauseAnnotation, "true")
	r.pass()
	r.site((*turnstile.Site).Release) // it could move on
	r.spec(func(s *api.TurnstileSpec) { s.Model, s.Lamp = "C", "blue" })
	arm := types.NamespacedName{Namespace: namespace, Name: "gate-arm-1"}
	lost := &corev1.ConfigMap{}
	if err := r.server.Get(t.Context(), arm, lost); err != nil {
		t.Fatal(err)
	}
	if err := r.server.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	r.pass()
	back := &corev1.ConfigMap{}
	if err := r.server.Get(t.Context(), arm, back); err != nil || back.Data["model"] != "A" {
		t.Errorf("the arm came back as %q, %v; want it as it last ran", back.Data["model"], err)
	}
	if got := r.entry("model").State; got != turnstile.AwaitingArm {
		t.Errorf("moved to %s", got)
	}
}

func TestResumeDoesNotWaitForARepair(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.annotate(lifecycle.PauseAnnotation, "true")
	r.pass()
	lost := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "gate-arm-1", Namespace: namespace}}
	if err := r.server.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	r.refuse = func(write string) error {
		if write == "create gate-arm-1" {
			return apierrors.NewForbidden(corev1.Resource("configmaps"), "gate-arm-1", nil)
		}
		return nil
	}
	if _, err := r.try(); err != nil {
		t.Errorf("a repair that fails failed the pass: %v", err)
	}
	r.annotate(lifecycle.PauseAnnotation, "")
	r.quiet()
	if r.condition("Paused").Type != "" {
		t.Error("still paused")
	}
	if got := r.condition("Warning"); got.Reason != lifecycle.ChildrenFailed {
		t.Errorf("the status does not show that the repair fails: %+v", got)
	}
	r.refuse = nil
	r.advance(5 * time.Minute)
	r.quiet()
	if diff := cmp.Diff([]metav1.Condition(nil), warnings(r), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func warnings(r *rig) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range r.gate().Status.Conditions {
		if c.Type == lifecycle.Warning {
			out = append(out, c)
		}
	}
	return out
}

func TestMetricsPaused(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.AwaitingArm))
	for _, step := range []struct {
		value string
		want  float64
	}{{"true", 1}, {"", 0}, {"true", 1}} {
		r.annotate(lifecycle.PauseAnnotation, step.value)
		r.pass()
		r.pass()
		if got := r.counter("detent_object_paused"); got != step.want {
			t.Errorf("with the annotation %q the gauge is %v, want %v", step.value, got, step.want)
		}
		if got := r.counter("detent_lifecycle_deadline_timestamp_seconds"); got == 0 {
			t.Errorf("with the annotation %q the deadline has no gauge", step.value)
		}
	}
	r.vanish()
	r.pass()
	if got := r.series("detent_object_paused"); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestPauseFromTheStart(t *testing.T) {
	r := newRig(t)
	r.annotate(lifecycle.PauseAnnotation, "true")
	for range 5 {
		r.pass()
	}
	if diff := cmp.Diff([]string{"status"}, r.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	r.annotate(lifecycle.PauseAnnotation, "")
	r.rest()
}

// A deadline that was edited must not be extended to a time that the API server rejects: no status could be written any more.
func TestResumeKeepsADeadlineThatCanBeStored(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.AwaitingArm))
	last := metav1.NewTime(time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC))
	r.status(func(s *api.TurnstileStatus) {
		for i := range s.Lifecycles {
			s.Lifecycles[i].Deadline = &last
		}
	})
	r.annotate(lifecycle.PauseAnnotation, "true")
	r.pass()
	r.advance(48 * time.Hour)
	r.annotate(lifecycle.PauseAnnotation, "")
	r.pass()
	if diff := cmp.Diff(&last, r.entry("model").Deadline); diff != "" {
		t.Errorf("deadline (-want +got):\n%s", diff)
	}
}

// TestPauseTakesWhatIsNotFalseForAPause checks that a value that is misspelt pauses, and says so, since who wrote it believes that nothing changes.
func TestPauseTakesWhatIsNotFalseForAPause(t *testing.T) {
	const plain = "lifecycles are paused; lost children are still repaired. Remove the annotation to resume"
	for name, c := range map[string]struct{ value, reason, message string }{
		"true":              {"true", "Annotation", plain},
		"in capitals":       {"True", "Annotation", plain},
		"with a space":      {"true ", "Annotation", plain},
		"false":             {"false", "", ""},
		"false in capitals": {"FALSE", "", ""},
		"neither of both": {"yes", "InvalidAnnotation", `the annotation turnstile.detent.dev/pause is "yes", neither true nor false, and is taken for a pause: ` +
			"lost children are still repaired. Write true to keep the pause, or remove the annotation to resume"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.visit(inState(t, turnstile.AwaitingArm))
			r.annotate(turnstile.PauseAnnotation, c.value)
			r.quiet()
			paused := r.condition("Paused")
			if paused.Reason != c.reason || paused.Message != c.message {
				t.Errorf("Paused is %q: %q, want %q: %q", paused.Reason, paused.Message, c.reason, c.message)
			}
		})
	}
}

// TestPauseShowsACorrectedAnnotation checks that the condition follows the annotation, and that the pause still counts from its beginning.
func TestPauseShowsACorrectedAnnotation(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.AwaitingArm))
	r.annotate(lifecycle.PauseAnnotation, "yes")
	r.quiet()
	began := r.condition("Paused")
	r.advance(time.Hour)
	r.annotate(lifecycle.PauseAnnotation, "true")
	r.quiet()
	corrected := r.condition("Paused")
	if began.Reason != "InvalidAnnotation" || corrected.Reason != "Annotation" || !corrected.LastTransitionTime.Equal(&began.LastTransitionTime) {
		t.Errorf("Paused was %v and is %v", began, corrected)
	}
}
