package runtime_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// series returns the metrics whose name has this prefix, with their labels.
func (r *rig) series(prefix string) map[string]float64 {
	r.Helper()
	families, err := r.registry.Gather()
	if err != nil {
		r.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), prefix) {
			continue
		}
		for _, m := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "detent_lifecycle_")
			for _, l := range m.GetLabel() {
				if !slices.Contains([]string{"kind", "namespace", "name"}, l.GetName()) {
					name += " " + l.GetValue()
				}
			}
			out[name] = value(m)
		}
	}
	return out
}

func value(m *dto.Metric) float64 {
	switch {
	case m.GetGauge() != nil:
		return m.GetGauge().GetValue()
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	default:
		return float64(m.GetHistogram().GetSampleCount())
	}
}

// counter returns the sum of the series of one name.
func (r *rig) counter(name string) float64 {
	r.Helper()
	sum := 0.0
	for _, v := range r.series(name) {
		sum += v
	}
	return sum
}

func TestMetricsGaugesFollowTheObject(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.AwaitingArm))
	entered := r.entry("model").EnteredAt
	want := map[string]float64{
		"state model AwaitingArm":               1,
		"state lamp Lit":                        1,
		"state_entered_timestamp_seconds model": float64(entered.Unix()),
		"state_entered_timestamp_seconds lamp":  float64(r.entry("lamp").EnteredAt.Unix()),
		"deadline_timestamp_seconds model":      float64(entered.Add(10 * time.Minute).Unix()),
		"progress model done":                   1,
		"progress model total":                  2,
		"guard_blocked arm-up model":            1,
	}
	got := map[string]float64{}
	for _, gauge := range []string{"state", "deadline", "progress", "guard"} {
		for k, v := range r.series("detent_lifecycle_" + gauge) {
			if !strings.HasPrefix(k, "state_duration") {
				got[k] = v
			}
		}
	}
	if diff := cmp.Diff(want, ordered(got, want)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	r.vanish()
	r.pass()
	for _, gauge := range []string{"state_entered", "state{", "deadline", "progress", "guard"} {
		if left := r.series("detent_lifecycle_" + gauge); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// ordered sorts the labels of got in the order of want.
func ordered(got, want map[string]float64) map[string]float64 {
	key := func(s string) string { words := strings.Fields(s); slices.Sort(words); return strings.Join(words, " ") }
	names := map[string]string{}
	for w := range want {
		names[key(w)] = w
	}
	out := map[string]float64{}
	for g, v := range got {
		if w, ok := names[key(g)]; ok {
			g = w
		}
		out[g] = v
	}
	return out
}

func TestMetricsGaugesFollowADelayedProjection(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.Selecting))
	blocked := func() float64 { return r.counter("detent_lifecycle_guard_blocked") }
	before := blocked()
	r.site(func(s *turnstile.Site) { s.Slow = true }) // no fact is known, so that the shown status stays
	r.pass()
	r.site(func(s *turnstile.Site) { s.Slow, s.UpErr = false, turnstile.ErrUnreachable })
	r.advance(time.Minute)
	r.pass() // written
	r.site(func(s *turnstile.Site) { s.UpErr = nil })
	r.pass() // delayed
	if got := blocked(); got != before {
		t.Errorf("%v guards are blocked, want %v", got, before)
	}
	r.quiet()
	if got := blocked(); got != before {
		t.Errorf("in the end %v guards are blocked, want %v", got, before)
	}
	r.damage(turnstile.Visit{Lifecycle: "model"}, func(e *lifecyclev1.Lifecycle) { e.State = turnstile.AwaitingApproval })
	r.site(func(s *turnstile.Site) { s.AllDown = true })
	r.spec(func(s *api.TurnstileSpec) { s.Approved = "A" })
	r.pass()
	if got := r.series("detent_lifecycle_state"); got["state model AwaitingApproval"] != 1 && got["state AwaitingApproval model"] != 1 {
		t.Errorf("somebody changed the stored state, and the gauges show %v", got)
	}
	r.spec(func(s *api.TurnstileSpec) { s.Approved = "any" })
	r.site((*turnstile.Site).Release)
	r.rest()
	if got := blocked(); got != 0 {
		t.Errorf("at rest %v guards are blocked", got)
	}
}

func TestMetricsOfARecreatedObjectStartFromZero(t *testing.T) {
	r := newRig(t)
	r.visit(inState(t, turnstile.AwaitingArm))
	old := r.gate()
	r.vanish()
	next := &api.Turnstile{Spec: old.Spec}
	next.Name, next.Namespace, next.UID, next.Generation = old.Name, old.Namespace, "another-uid", 1
	r.site(func(s *turnstile.Site) { s.Slow = true })
	if err := r.server.Create(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	r.pass() // only the lamp is known yet
	for k := range r.series("detent_lifecycle_state") {
		if strings.Contains(k, "model") && !strings.HasPrefix(k, "state_duration") {
			t.Errorf("the old object's series is still there: %s", k)
		}
	}
}

func TestMetricsCountCommittedTransitions(t *testing.T) {
	r := newRig(t)
	r.rest()
	before := r.counter("detent_lifecycle_transitions_total")
	r.spec(func(s *api.TurnstileSpec) { s.Lamp = "green" })
	r.rest()
	if got := r.counter("detent_lifecycle_transitions_total") - before; got != 3 {
		t.Errorf("%v transitions, want 3", got)
	}
	if got := r.counter("detent_lifecycle_projection_writes_total"); got != 0 {
		t.Errorf("%v writes moved no lifecycle, want 0", got)
	}
}

func TestNewMetricsRegistersOnce(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := lifecycle.NewMetrics(registry); err != nil {
		t.Fatal(err)
	}
	if _, err := lifecycle.NewMetrics(registry); err == nil {
		t.Error("a second registration went unnoticed")
	}
}
