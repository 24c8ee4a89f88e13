package runtime_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

func TestProveReadsLiveBeforeTheFirstActionAfterAStart(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*rig)
		want    int // live reads of the object until the lamp is switched
	}{
		"our own write was seen":    {func(*rig) {}, 0},
		"after a start":             {(*rig).restart, 1},
		"after a write of somebody": {func(r *rig) { r.annotate("somebody", "was here") }, 0},
		"after a conflict": {func(r *rig) {
			r.freezeGate()
			r.annotate("somebody", "was here")
			r.site(func(s *turnstile.Site) { s.Dark = true })
			r.pass()
			r.thaw()
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.visit(inState(t, turnstile.Switching))
			c.prepare(r)
			r.site((*turnstile.Site).Release)
			r.liveGets = 0
			r.until(turnstile.Settled, turnstile.AwaitingGlow)
			if r.liveGets != c.want {
				t.Errorf("%d live reads, want %d", r.liveGets, c.want)
			}
		})
	}
}

func TestReconcilerReadsNothingLiveAtRest(t *testing.T) {
	r := newRig(t)
	r.rest()
	r.restart()
	r.liveGets = 0
	for range 5 {
		r.advance(r.pass().RequeueAfter)
	}
	if r.liveGets != 0 {
		t.Errorf("%d live reads", r.liveGets)
	}
}

func TestReconcilerRunsNoActionOnAStalePersistedState(t *testing.T) {
	for name, successor := range map[string]bool{"the same process": false, "a successor": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.visit(inState(t, turnstile.Replacing))
			old := r.gate()
			r.site((*turnstile.Site).Release)
			r.rest() // the object settles
			r.cache.frozen[gate] = old
			if successor {
				r.restart()
			}
			done, writes := r.world.Log(gateKey), len(r.writes)
			r.liveGets = 0
			start := r.clock.Now()
			for r.clock.Now().Sub(start) < 20*time.Second {
				r.advance(max(r.pass().RequeueAfter, time.Millisecond))
			}
			if diff := cmp.Diff(done, r.world.Log(gateKey)); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			if len(r.writes) != writes {
				t.Errorf("writes %q", r.writes[writes:])
			}
			if r.liveGets > 21 {
				t.Errorf("%d live reads in 20 seconds, want at most one a second", r.liveGets)
			}
			r.thaw()
			r.rest()
			if diff := cmp.Diff(done, r.world.Log(gateKey)); diff != "" {
				t.Errorf("effects after the cache caught up (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReconcilerTreatsARecreatedObjectAsAnother(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Switching))
	old := r.gate()
	r.site((*turnstile.Site).Release)
	r.vanish()
	r.cache.frozen[gate] = old
	r.restart()
	writes := len(r.writes)
	r.pass() // the object does not exist
	next := &api.Turnstile{Spec: old.Spec}
	next.Name, next.Namespace, next.UID, next.Generation = old.Name, old.Namespace, "another-uid", 1
	if err := r.server.Create(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	r.pass() // another object has the name
	for _, w := range r.writes[writes:] {
		if strings.Contains(w, "lamp") {
			t.Errorf("acted for the old object: %q", r.writes[writes:])
		}
	}
}

func TestRevision(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Switching))
	old := r.gate()
	old.ResourceVersion = "w/5"
	r.cache.frozen[gate] = old
	_, err := r.try()
	if err == nil || !strings.Contains(err.Error(), `reading resourceVersion "w/5" of default/gate`) {
		t.Errorf("error %v", err)
	}
}

func TestReconcilerRepeatsNoActionBeforeItsWriteIsObserved(t *testing.T) {
	r := newRig(t)
	r.rest()
	open, knocks := false, 0
	execute := r.kind.Execute
	r.kind.Lifecycles = append(slices.Clone(r.kind.Lifecycles), knocking(t, &open))
	r.kind.Execute = func(ctx context.Context, request lifecycle.EffectRequest[*api.Turnstile, turnstile.Snapshot, turnstile.Effect]) error {
		if request.Effect.Op != "knock" {
			return execute(ctx, request)
		}
		knocks++
		return nil
	}
	r.restart()
	for r.entry("knocking").State != "Knocking" {
		r.pass()
	}
	r.pass()
	if knocks != 1 {
		t.Fatalf("knocked %d times, want once", knocks)
	}
	old := r.gate()
	open = true
	for r.entry("knocking").State != "Calm" {
		r.pass()
	}
	open = false
	r.cache.frozen[gate] = old
	for range 30 {
		r.advance(r.pass().RequeueAfter)
	}
	if knocks != 1 {
		t.Errorf("knocked %d times, the last time on a persisted state that had been left", knocks)
	}
}
