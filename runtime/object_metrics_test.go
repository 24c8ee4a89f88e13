package runtime

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// A registry refuses all metrics if one series is collected twice, and a dropped object may not be collected any more.
func TestObjectMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	object := func(name string) Object {
		return &api.Turnstile{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	}
	inState := func(state string, guards ...string) []lifecycleState {
		e := &lifecyclev1.Lifecycle{State: state}
		for _, guard := range guards {
			e.WaitingFor = append(e.WaitingFor, lifecyclev1.WaitingFor{Guard: guard})
		}
		return []lifecycleState{{name: "model", entry: e}, {name: "without entry"}}
	}
	one, two := &memory{}, &memory{}
	for _, step := range []struct {
		name string
		do   func()
		want []string
	}{
		{"nothing is shown", func() {}, nil},
		{"a paused object that was never shown", func() { m.pause(one, "Turnstile", object("a")) }, []string{"object_paused a"}},
		{"two guards of one name", func() { m.show(one, "Turnstile", object("a"), inState("Waiting", "g", "g", "h")) }, []string{
			"lifecycle_guard_blocked g model a", "lifecycle_guard_blocked h model a", "lifecycle_state model a Waiting", "lifecycle_state_entered_timestamp_seconds model a",
		}},
		{"another state and another object", func() {
			m.show(one, "Turnstile", object("a"), inState("Done"))
			m.show(two, "Turnstile", object("b"), inState("Done"))
		}, []string{
			"lifecycle_state model a Done", "lifecycle_state model b Done",
			"lifecycle_state_entered_timestamp_seconds model a", "lifecycle_state_entered_timestamp_seconds model b",
		}},
		{"one is deleted, the other paused", func() {
			m.drop(one)
			m.pause(two, "Turnstile", object("b"))
			m.pause(two, "Turnstile", object("b"))
		}, []string{"lifecycle_state model b Done", "lifecycle_state_entered_timestamp_seconds model b", "object_paused b"}},
		{"it is resumed", func() { m.show(two, "Turnstile", object("b"), inState("Done")) }, []string{
			"lifecycle_state model b Done", "lifecycle_state_entered_timestamp_seconds model b",
		}},
		{"another process leads, and this one forgets the object", func() {
			m.show(one, "Turnstile", object("b"), inState("Waiting"))
			m.drop(two)
		}, []string{"lifecycle_state model b Waiting", "lifecycle_state_entered_timestamp_seconds model b"}},
	} {
		step.do()
		families, err := registry.Gather()
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		var got []string
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				text := strings.TrimPrefix(family.GetName(), "detent_")
				for _, label := range metric.GetLabel() {
					if label.GetName() != "kind" && label.GetName() != "namespace" {
						text += " " + label.GetValue()
					}
				}
				got = append(got, text)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}
