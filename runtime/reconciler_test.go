package runtime_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

func TestReconcilerWritesOncePerTransition(t *testing.T) {
	for name, change := range map[string]func(*api.TurnstileSpec){
		"a new object":           func(*api.TurnstileSpec) {},
		"another model":          func(s *api.TurnstileSpec) { s.Model = "B" },
		"another colour":         func(s *api.TurnstileSpec) { s.Lamp = "green" },
		"both":                   func(s *api.TurnstileSpec) { s.Model, s.Lamp = "B", "green" },
		"another model and back": func(s *api.TurnstileSpec) { s.Model = "A" },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			before := 0
			if name != "a new object" {
				r.rest()
				before, r.writes = edgesOf(r), nil
			}
			if name == "another model and back" {
				r.spec(func(s *api.TurnstileSpec) { s.Model = "B" })
			}
			r.spec(change)
			r.rest()
			edges := edgesOf(r) - before
			if name == "a new object" {
				edges-- // the first entries of both lifecycles share one write
			}
			want := edges
			if edges == 0 {
				want = 1 // the generation that changes nothing is observed
			}
			if got := count(r.writes, "status"); got != want {
				t.Errorf("%d status writes, want %d for %d transitions: %q", got, want, edges, r.writes)
			}
			if got := r.gate(); got.Status.ObservedGeneration != got.Generation || r.condition("Ready").Status != metav1.ConditionTrue {
				t.Errorf("observed %d of generation %d, Ready %s", got.Status.ObservedGeneration, got.Generation, r.condition("Ready").Status)
			}
		})
	}
}

// edgesOf returns the number of transitions in the histories, loops unfolded.
func edgesOf(r *rig) int {
	n := 0
	for _, l := range r.gate().Status.Lifecycles {
		for _, h := range l.History {
			n += int(max(h.Times, 1))
		}
	}
	return n
}

func TestReconcilerRunsLifecyclesInOrder(t *testing.T) {
	r := newRig(t)
	r.rest()
	done := len(r.world.Log(gateKey))
	r.spec(func(s *api.TurnstileSpec) { s.Model = "B" })
	r.rest()
	if diff := cmp.Diff([]string{"replace 0 B", "replace 1 B", "seal B"}, r.world.Log(gateKey)[done:]); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
}

func TestReconcilerWritesNothingWhileFactsAreUnchanged(t *testing.T) {
	eachVisit(t, func(r *rig, _ turnstile.Visit) {
		r.writes = nil
		for range 20 {
			r.advance(r.pass().RequeueAfter)
		}
		if len(r.writes) > 0 {
			r.Errorf("writes: %q", r.writes)
		}
	})
}

func TestReconcilerRequeuesInEveryState(t *testing.T) {
	eachVisit(t, func(r *rig, v turnstile.Visit) {
		want := 5 * time.Second
		if v.State == turnstile.Settled || v.State == turnstile.Lit {
			want = 10 * time.Minute
		}
		if got := r.pass().RequeueAfter; got <= 0 || got > want {
			r.Errorf("looks again after %s, want at most %s", got, want)
		}
	})
}

func TestReconcilerActsOnASpecChangeInTheNextReconcile(t *testing.T) {
	eachVisit(t, func(r *rig, v turnstile.Visit) {
		if v.State == "Inferring" {
			r.spec(func(s *api.TurnstileSpec) { s.Model = "C" })
			r.pass()
			if got := r.gate(); got.Status.ObservedGeneration == got.Generation {
				r.Error("a generation was observed although nothing is known")
			}
			return
		}
		r.spec(func(s *api.TurnstileSpec) { s.Model, s.Lamp = "C", "blue" })
		r.advance(time.Second)
		r.pass() // one transition per reconcile: the two lifecycles take turns
		r.pass()
		entry := r.entry(v.Lifecycle)
		switch {
		case v.State == turnstile.AwaitingArm && entry.State != turnstile.AwaitingArm:
			r.Errorf("the selected arm was dropped: %s", entry.State)
		case v.State == turnstile.AwaitingArm:
		case entry.Attempt == nil || entry.Attempt.To != map[string]string{"model": "C", "lamp": "blue"}[v.Lifecycle]:
			r.Errorf("the attempt is still %+v in %s", entry.Attempt, entry.State)
		}
	})
}

func TestReconcilerConvergesFromEveryStateAfterALoss(t *testing.T) {
	losses := map[string]func(*rig, turnstile.Visit){
		"nothing":     func(*rig, turnstile.Visit) {},
		"the process": func(r *rig, _ turnstile.Visit) { r.restart() },
		"the status":  func(r *rig, _ turnstile.Visit) { r.status(func(s *api.TurnstileStatus) { *s = api.TurnstileStatus{} }) },
		"the data": func(r *rig, v turnstile.Visit) {
			r.damage(v, func(e *lifecyclev1.Lifecycle) { e.Data = map[string]string{"?": "!"} })
		},
		"the state": func(r *rig, v turnstile.Visit) {
			r.damage(v, func(e *lifecyclev1.Lifecycle) { e.State = "ninth-heaven" })
		},
		"the attempt": func(r *rig, v turnstile.Visit) { r.damage(v, func(e *lifecyclev1.Lifecycle) { e.Attempt = nil }) },
		"the lifecycle": func(r *rig, _ turnstile.Visit) {
			r.status(func(s *api.TurnstileStatus) { s.Lifecycles = s.Lifecycles[:1] })
		},
	}
	for loss, lose := range losses {
		t.Run(loss, func(t *testing.T) {
			eachVisit(t, func(r *rig, v turnstile.Visit) {
				lose(r, v)
				r.advance(r.pass().RequeueAfter)
				r.advance(r.pass().RequeueAfter)
				r.site((*turnstile.Site).Release)
				r.spec(func(s *api.TurnstileSpec) { s.Approved = "any" })
				r.rest()
				if diff := cmp.Diff(wantEffects(r), r.world.Log(gateKey)); diff != "" {
					r.Errorf("effects (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func (r *rig) damage(v turnstile.Visit, do func(*lifecyclev1.Lifecycle)) {
	r.Helper()
	r.status(func(s *api.TurnstileStatus) {
		for i := range s.Lifecycles {
			if s.Lifecycles[i].Name == v.Lifecycle {
				do(&s.Lifecycles[i])
			}
		}
	})
}

// wantEffects returns the effects on an object that was created with model A and has settled with its current spec: each arm
// once.
func wantEffects(r *rig) []string {
	want := []string{"seal A"}
	if model := r.gate().Spec.Model; model != "A" {
		want = append(want, "replace 0 "+model, "replace 1 "+model, "seal "+model)
	}
	return want
}

func TestReconcilerInfersAndReportsAnUnknownState(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.reported()
	r.damage(turnstile.Visit{Lifecycle: "model"}, func(e *lifecyclev1.Lifecycle) { e.State = "ninth-heaven" })
	r.pass()
	entry := r.entry("model")
	last := entry.History[len(entry.History)-1]
	if entry.State != turnstile.Settled || last.Event != "inferred" || last.From != "ninth-heaven" {
		t.Errorf("state %s, last transition %+v", entry.State, last)
	}
	want := "Normal EnteredSettled inferred from ninth-heaven: model: every arm is of the desired model and the turnstile is sealed" +
		" (the stored state did not agree with what was observed)"
	if diff := cmp.Diff([]string{want}, r.reported()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestReconcilerStallsOnAnUnknownStateThatCannotBeInferred(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.site(func(s *turnstile.Site) { s.Slow = true })
	r.damage(turnstile.Visit{Lifecycle: "model"}, func(e *lifecyclev1.Lifecycle) { e.State = "ninth-heaven" })
	r.pass()
	if got := r.entry("model").State; got != "ninth-heaven" {
		t.Fatalf("state %s, want the stored one as long as nothing is known", got)
	}
	got := r.condition("Stalled")
	if got.Status != metav1.ConditionTrue || got.Reason != "UnknownState" {
		t.Errorf("Stalled is %s, %s: %s", got.Status, got.Reason, got.Message)
	}
}

func TestReconcilerMigratesAStateOfAnEarlierRelease(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.damage(turnstile.Visit{Lifecycle: "lamp"}, func(e *lifecyclev1.Lifecycle) { e.State = turnstile.Burning })
	r.pass()
	last := r.entry("lamp").History[len(r.entry("lamp").History)-1]
	if r.entry("lamp").State != turnstile.Lit || last.Event != "migrated" {
		t.Errorf("state %s after %s", r.entry("lamp").State, last.Event)
	}
}

func TestReconcilerIgnoresAnObjectUnderDeletion(t *testing.T) {
	r := newRig(t)
	r.rest()
	object := r.gate()
	object.Finalizers = []string{"test/hold"}
	if err := r.server.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if err := r.server.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	r.writes = nil
	if got := r.pass(); got.RequeueAfter != 0 || len(r.writes) > 0 {
		t.Errorf("looks again after %s, writes %q", got.RequeueAfter, r.writes)
	}
}

func TestReconcilerTakesTransitionsInTurns(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.spec(func(s *api.TurnstileSpec) { s.Model, s.Lamp = "B", "green" })
	var moved []string
	last := map[string]int{}
	for range 4 {
		for _, name := range []string{"model", "lamp"} {
			last[name] = len(r.entry(name).History)
		}
		r.pass()
		for _, name := range []string{"model", "lamp"} {
			if len(r.entry(name).History) > last[name] {
				moved = append(moved, name)
			}
		}
	}
	if !slices.Contains(moved[:2], "model") || !slices.Contains(moved[:2], "lamp") {
		t.Errorf("moved in the order %q, want both among the first two", moved)
	}
}

// The API server permits several entries with one name: the list of lifecycles is atomic.
func TestReconcilerDropsASecondEntryOfALifecycle(t *testing.T) {
	r := newRig(t)
	r.rest()
	want := r.gate().Status.Lifecycles
	r.status(func(s *api.TurnstileStatus) {
		again := s.Lifecycles[0]
		again.State = "ninth-heaven"
		s.Lifecycles = append(s.Lifecycles, again)
	})
	r.restart()
	r.pass()
	r.advance(time.Minute)
	r.pass()
	if diff := cmp.Diff(want, r.gate().Status.Lifecycles); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}
