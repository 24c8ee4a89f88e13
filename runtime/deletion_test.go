package runtime_test

import (
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
	"k8s.io/apimachinery/pkg/types"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// untilGone reconciles at every requeue, moving the clock, until the API server has deleted the turnstile. It returns the states
// of the lifecycle model on the way.
func (r *rig) untilGone() (path []string) {
	r.Helper()
	for range 100 {
		if !r.exists() {
			return path
		}
		if at := r.entry("model").State; len(path) == 0 || path[len(path)-1] != at {
			path = append(path, at)
		}
		result, _ := r.try() // a refused write is tried again
		r.advance(max(result.RequeueAfter, time.Second))
	}
	r.Fatalf("never deleted; walked %q", path)
	return nil
}

// sealed returns what the turnstile is sealed for outside Kubernetes.
func (r *rig) sealed() (model string) {
	r.site(func(s *turnstile.Site) { model = s.Seal.Model })
	return model
}

func TestDeletionAddsTheFinalizerBeforeTheFirstEffectThatNeedsIt(t *testing.T) {
	r := newRig(t)
	refused := 0
	r.refuse = func(write string) error {
		if write == "patch "+gate && refused < 3 {
			refused++
			return errors.New("etcd is down")
		}
		if model := r.sealed(); model != "" && !slices.Contains(r.gate().Finalizers, lifecycle.Finalizer) {
			t.Errorf("sealed for %s without the finalizer", model)
		}
		return nil
	}
	for range 200 {
		result, _ := r.try()
		if r.entry("model").State == turnstile.Settled && r.entry("lamp").State == turnstile.Lit {
			break
		}
		r.advance(max(result.RequeueAfter, time.Second))
	}
	if diff := cmp.Diff([]string{lifecycle.Finalizer}, r.gate().Finalizers); diff != "" || refused != 3 {
		t.Errorf("finalizers after %d refused writes (-want +got):\n%s", refused, diff)
	}
	if got := count(r.writes, "patch "+gate); got != 1 {
		t.Errorf("wrote the finalizer %d times, want once", got)
	}
}

func TestDeletionReleasesFromEveryState(t *testing.T) {
	eachVisit(t, func(r *rig, v turnstile.Visit) {
		r.writes = nil
		r.remove()
		r.site((*turnstile.Site).Release)
		path := r.untilGone()
		want := []string{turnstile.Unsealing, turnstile.Unsealed}
		if diff := cmp.Diff(want, path[1:]); diff != "" {
			t := r.T
			t.Errorf("states after %s (-want +got):\n%s", v.State, diff)
		}
		if left := r.sealed(); left != "" {
			r.Errorf("still sealed for %s", left)
		}
		if got := count(r.world.Log(gateKey), "unseal"); got != 1 {
			r.Errorf("unsealed %d times, want once", got)
		}
		if diff := cmp.Diff([]string{"status", "status", "patch " + gate}, slices.DeleteFunc(r.writes, forChildren)); diff != "" {
			r.Errorf("writes (-want +got):\n%s", diff)
		}
	})
}

// forChildren reports whether the write concerns a child of the turnstile.
func forChildren(write string) bool { return strings.Contains(write, gate+"-") }

// No manager runs while the object is deleted, and the first one that does has another name for the persisted state, or none.
func TestDeletionReleasesFromAStateOfAnEarlierRelease(t *testing.T) {
	for name, state := range map[string]string{"that is migrated": turnstile.Resting, "that is unknown": "ninth-heaven"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.rest()
			r.damage(turnstile.Visit{Lifecycle: "model"}, func(e *lifecyclev1.Lifecycle) { e.State = state })
			r.remove()
			if diff := cmp.Diff([]string{state, turnstile.Unsealing, turnstile.Unsealed}, r.untilGone()); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if left := r.sealed(); left != "" {
				t.Errorf("still sealed for %s", left)
			}
		})
	}
}

func TestDeletionOfAnObjectWithNothingToRelease(t *testing.T) {
	r := newRig(t)
	r.spec(func(s *api.TurnstileSpec) { s.Approved = "" }) // it is never sealed
	r.until(turnstile.AwaitingApproval, turnstile.Lit)
	if got := r.gate().Finalizers; len(got) > 0 {
		t.Fatalf("finalizers %q, want none before anything needs them", got)
	}
	r.writes = nil
	r.remove()
	r.pass()
	if r.exists() || len(r.writes) > 0 {
		t.Errorf("exists: %v, writes %q", r.exists(), r.writes)
	}
}

func TestDeletionOfAKindThatReleasesNothingAnyMore(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.kind.Lifecycles = r.kind.Lifecycles[1:] // a release of the operator without the lifecycle model
	r.restart()
	r.remove()
	if path := r.untilGone(); len(path) > 1 {
		t.Errorf("walked %q", path)
	}
}

func TestDeletionAfterFaultsAtEveryWrite(t *testing.T) {
	const most = 8
	reached := 0
	for n := range most {
		for _, fault := range []string{"refused", "lost", "crash after"} {
			t.Run(fmt.Sprintf("%s, write %d", fault, n), func(t *testing.T) {
				r := newLoneRig(t)
				r.rest()
				r.remove()
				writes := 0
				failure := func(string) error {
					writes++
					if writes == n+1 {
						reached = max(reached, n)
						return errors.New("the connection was closed")
					}
					return nil
				}
				switch fault {
				case "refused":
					r.refuse = failure
				case "lost":
					r.lose = failure
				case "crash after":
					r.lose = func(string) error {
						if failure("") != nil {
							r.restart()
						}
						return nil
					}
				}
				r.untilGone()
				if left := r.sealed(); left != "" {
					t.Errorf("still sealed for %s", left)
				}
			})
		}
	}
	if reached < 2 {
		t.Errorf("faults reached write %d, want the finalizer's", reached)
	}
}

func TestDeletionSurvivesALostStatus(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.site(func(s *turnstile.Site) { s.Stuck["unseal"] = fmt.Errorf("no knife: %w", lifecycle.ErrWait) })
	r.remove()
	r.until(turnstile.Unsealing, turnstile.Lit)
	r.status(func(s *api.TurnstileStatus) { *s = api.TurnstileStatus{} })
	r.restart()
	r.site((*turnstile.Site).Release)
	if diff := cmp.Diff([]string{"", turnstile.Unsealing, turnstile.Unsealed}, r.untilGone()); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

func TestDeletionShowsWhatItWaitsFor(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.site(func(s *turnstile.Site) { s.SealErr = turnstile.ErrUnreachable })
	r.remove()
	r.until(turnstile.Unsealing, turnstile.Lit)
	r.quiet()
	entry := r.entry("model")
	if len(entry.WaitingFor) == 0 || entry.WaitingFor[0].Guard != "no-seal" || entry.Deadline == nil {
		t.Errorf("waits for %+v until %v", entry.WaitingFor, entry.Deadline)
	}
	if got := r.condition(lifecycle.Ready); got.Status != metav1.ConditionFalse {
		t.Errorf("Ready is %s while something is left to release", got.Status)
	}
	r.advance(11 * time.Minute)
	r.pass()
	if got := r.condition("Stalled"); got.Status != metav1.ConditionTrue {
		t.Errorf("Stalled is %s after the deadline", got.Status)
	}
}

func TestDeletionIsNeverReady(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.remove()
	seen := map[string]bool{}
	for r.exists() {
		if state := r.entry("model").State; state != turnstile.Settled { // the first write shows it
			ready := r.condition(lifecycle.Ready)
			seen[state] = true
			if ready.Status != metav1.ConditionFalse || r.entry("model").Progress != nil {
				t.Errorf("in %s Ready is %s (%s), progress %v", state, ready.Status, ready.Reason, r.entry("model").Progress)
			}
		}
		r.advance(r.pass().RequeueAfter)
	}
	if diff := cmp.Diff(map[string]bool{turnstile.Unsealing: true, turnstile.Unsealed: true}, seen); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

func TestDeletionRepairsLostChildren(t *testing.T) {
	for name, tc := range map[string]struct {
		finalizers []string
		repaired   bool
	}{
		"in the background": {repaired: true},
		"in the foreground, where the garbage collector deletes the children": {finalizers: []string{metav1.FinalizerDeleteDependents}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.rest()
			r.site(func(s *turnstile.Site) { s.SealErr = turnstile.ErrUnreachable })
			r.finalizers(append(tc.finalizers, lifecycle.Finalizer)...)
			r.remove()
			r.until(turnstile.Unsealing, turnstile.Lit)
			if err := r.server.Delete(r.Context(), r.arm("0")); err != nil {
				t.Fatal(err)
			}
			r.quiet()
			err := r.server.Get(r.Context(), types.NamespacedName{Namespace: namespace, Name: gate + "-arm-0"}, &corev1.ConfigMap{})
			if got := !apierrors.IsNotFound(err); got != tc.repaired {
				t.Errorf("repaired: %v, want %v", got, tc.repaired)
			}
		})
	}
}

func TestDeletionWaitsWhilePaused(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.annotate(lifecycle.PauseAnnotation, "true")
	r.remove()
	r.quiet()
	if got := r.entry("model").State; got != turnstile.Settled || r.sealed() == "" {
		t.Errorf("in state %s, sealed for %q, while paused", got, r.sealed())
	}
	r.annotate(lifecycle.PauseAnnotation, "")
	r.untilGone()
}

func TestDeletionEndsWhenOnlyOtherFinalizersAreLeft(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.finalizers(lifecycle.Finalizer, "test.detent.dev/held")
	r.remove()
	for slices.Contains(r.gate().Finalizers, lifecycle.Finalizer) {
		r.advance(r.pass().RequeueAfter)
	}
	r.writes = nil
	if got := r.pass(); got.RequeueAfter != 0 || len(r.writes) > 0 {
		t.Errorf("requeues after %s, writes %q", got.RequeueAfter, r.writes)
	}
}
