package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

func TestReconcilerBacksOffAFailingActionAlone(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.site(func(s *turnstile.Site) { s.Fails["replace"] = errors.New("the arm is rusty") })
	r.spec(func(s *api.TurnstileSpec) { s.Model = "B" })
	r.until(turnstile.Replacing, turnstile.Lit)
	var tries []time.Duration
	start, failures := r.clock.Now(), 0.0
	for len(tries) < 6 {
		r.advance(min(r.pass().RequeueAfter, 100*time.Millisecond))
		if now := r.counter("detent_lifecycle_action_failures_total"); now > failures {
			failures = now
			tries = append(tries, r.clock.Now().Sub(start).Round(time.Second))
		}
	}
	if again, left := r.pass().RequeueAfter, 5*time.Second; again > left {
		t.Errorf("looks again after %s, want at most %s", again, left)
	}
	if diff := cmp.Diff([]time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 31 * time.Second}, tries); diff != "" {
		t.Errorf("tries (-want +got):\n%s", diff)
	}
	if got := r.waitsFor("model", "action"); got != "action replace: the arm is rusty" {
		t.Errorf("shows %q", got)
	}

	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
	r.until(turnstile.Replacing, turnstile.Switching)
	r.until(turnstile.Replacing, turnstile.Lit)
	if got := r.entry("lamp").Attempt; got == nil || got.To != "green" {
		t.Errorf("the other lifecycle stands at %+v", got)
	}

	r.site((*turnstile.Site).Release)
	r.rest()
	if got := r.waitsFor("model", "action"); got != "" {
		t.Errorf("still shows %q", got)
	}
}

func TestReconcilerDoesNotBackOffErrWait(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Replacing))
	if got := r.counter("detent_lifecycle_action_failures_total"); got != 0 {
		t.Errorf("%v failures", got)
	}
	if got := r.waitsFor("model", "action"); got != "the replace tool is out of order: not possible yet" {
		t.Errorf("shows %q", got)
	}
}

func TestReconcilerBacksOffAnUnknownPrecondition(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Replacing))
	r.site(func(s *turnstile.Site) { s.Release(); s.CatalogErr = turnstile.ErrUnreachable })
	done := r.world.Log(gateKey)
	live, snapshot := 0, r.kind.Observe
	r.kind.Observe = func(ctx context.Context, g *api.Turnstile, request lifecycle.ObserveRequest) (turnstile.Snapshot, error) {
		if request.Live {
			live++
		}
		return snapshot(ctx, g, request)
	}
	r.restart()
	for start := r.clock.Now(); r.clock.Now().Sub(start) < time.Minute; {
		r.advance(min(r.pass().RequeueAfter, 100*time.Millisecond))
	}
	if live < 3 || live > 7 {
		t.Errorf("looked live %d times in a minute, want with back-off", live)
	}
	if diff := cmp.Diff(done, r.world.Log(gateKey)); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	if got := r.waitsFor("model", "action"); got != "in-catalog: cannot be read: "+turnstile.ErrUnreachable.Error() {
		t.Errorf("shows %q", got)
	}
	if got := r.entry("model").State; got != turnstile.Replacing {
		t.Errorf("state %s", got)
	}
}

func TestReconcilerResetsTheBackOffOnATransition(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Switching))
	r.site(func(s *turnstile.Site) { s.Release(); s.Fails["switch"] = errors.New("no bulb") })
	for r.counter("detent_lifecycle_action_failures_total") < 8 {
		r.advance(r.pass().RequeueAfter)
	}
	r.site((*turnstile.Site).Release)
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "blue" })
	start := r.clock.Now()
	r.until(turnstile.Settled, turnstile.AwaitingGlow)
	if took := r.clock.Now().Sub(start); took > 5*time.Second {
		t.Errorf("the new attempt acted after %s", took)
	}
}

func TestReconcilerDoesNotBackOffErrBehind(t *testing.T) {
	for name, c := range map[string]struct {
		state  string
		behind func(*rig, func() bool)
	}{
		"seen by an effect": {turnstile.Switching, func(r *rig, behind func() bool) {
			execute := r.kind.Execute
			r.kind.Execute = func(ctx context.Context, request lifecycle.EffectRequest[*api.Turnstile, turnstile.Snapshot, turnstile.Effect]) error {
				if behind() {
					return fmt.Errorf("reading a child: %w", lifecycle.ErrStale)
				}
				return execute(ctx, request)
			}
		}},
		"seen by the snapshot of an action with a precondition": {turnstile.Replacing, func(r *rig, behind func() bool) {
			snapshot, looks := r.kind.Observe, 0
			r.kind.Observe = func(ctx context.Context, g *api.Turnstile, request lifecycle.ObserveRequest) (turnstile.Snapshot, error) {
				looks++
				if looks == 2 && behind() {
					return turnstile.Snapshot{}, lifecycle.ErrStale
				}
				return snapshot(ctx, g, request)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.visit(inState(t, c.state))
			r.site((*turnstile.Site).Release)
			was := false
			c.behind(r, func() bool { was = true; return true })
			r.restart()
			if got := r.pass().RequeueAfter; !was || got > 200*time.Millisecond {
				t.Errorf("looks again after %s", got)
			}
			if got := r.counter("detent_lifecycle_action_failures_total"); got != 0 {
				t.Errorf("%v failures", got)
			}
		})
	}
}

func TestReconcilerRetriesWhenTheBackOffEnds(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Switching))
	r.site(func(s *turnstile.Site) { s.Release(); s.Fails["switch"] = errors.New("no bulb") })
	var pauses []time.Duration
	for range 3 { // shorter than a poll
		after := r.pass().RequeueAfter
		pauses = append(pauses, after)
		r.advance(after)
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, pauses); diff != "" {
		t.Errorf("looks again after (-want +got):\n%s", diff)
	}
}

func TestReconcilerResetsTheBackOffOnSuccess(t *testing.T) {
	r := newRig(t)
	r.rest()
	open, broken := false, true
	execute := r.kind.Execute
	r.kind.Lifecycles = append(slices.Clone(r.kind.Lifecycles), knocking(t, &open))
	r.kind.Execute = func(ctx context.Context, request lifecycle.EffectRequest[*api.Turnstile, turnstile.Snapshot, turnstile.Effect]) error {
		switch {
		case request.Effect.Op != "knock":
			return execute(ctx, request)
		case broken:
			return errors.New("sore knuckles")
		}
		return nil
	}
	r.restart()
	for r.counter("detent_lifecycle_action_failures_total") < 5 {
		r.advance(r.pass().RequeueAfter)
	}
	r.quiet()
	if got := r.waitsFor("knocking", "action"); got != "action knock: sore knuckles" {
		t.Errorf("shows %q", got)
	}
	broken = false
	for start := r.clock.Now(); r.clock.Now().Sub(start) < 2*time.Minute; {
		r.advance(r.pass().RequeueAfter)
	}
	if got := r.waitsFor("knocking", "action"); got != "" {
		t.Errorf("still shows %q", got)
	}
}
