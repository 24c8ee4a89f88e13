package catalogue_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/graph"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
)

func TestDrawableHasEveryStateAndTransition(t *testing.T) {
	machine, err := machines.Compile(kafkaversion.Definition())
	if err != nil {
		t.Fatal(err)
	}
	m := machine.Graph()
	g := catalogue.Drawable(m)
	if len(g.States) != len(m.States) || len(g.Edges) != len(m.Edges) || len(g.Guards) != len(m.Guards) {
		t.Errorf("drew %d states, %d edges, %d guards of %d, %d, %d", len(g.States), len(g.Edges), len(g.Guards), len(m.States), len(m.Edges), len(m.Guards))
	}
	text := graph.Text(g, nil, graph.TextOptions{})
	for _, s := range m.States {
		if !strings.Contains(text, s.Name) {
			t.Errorf("state %s is not in the text:\n%s", s.Name, text)
		}
	}
	if !strings.Contains(text, "══finalize══") {
		t.Errorf("the one-way door does not show:\n%s", text)
	}
}

func TestLiveShowsOnlyTheCurrentAttempt(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	entry := &lifecyclev1.Lifecycle{
		State: "AwaitingReady", EnteredAt: at, Attempt: &lifecyclev1.Attempt{ID: "b"},
		Progress:   &lifecyclev1.Progress{Done: 1, Total: 3, Unit: "node", Current: "n-1"},
		WaitingFor: []lifecyclev1.WaitingFor{{Guard: "node-ready", Expected: "ready", Observed: "not ready"}},
		History: []lifecyclev1.Transition{
			{Event: "old", To: "Settled", Attempt: "a"},
			{Event: "version-changed", From: "Settled", To: "Checking", Attempt: "b"},
			{Event: "restarted", From: "RestartingNode", To: "AwaitingReady", Attempt: "b", Times: 2},
		},
	}
	want := &graph.Live{
		State: "AwaitingReady", EnteredAt: at.Time, Now: at.Add(time.Minute),
		Visited: map[string]int{"Checking": 1, "AwaitingReady": 2},
		Walked: []graph.Walk{
			{Event: "version-changed", From: "Settled", To: "Checking", Count: 1},
			{Event: "restarted", From: "RestartingNode", To: "AwaitingReady", Count: 2},
		},
		Waiting:  []graph.Waiting{{Guard: "node-ready", Expected: "ready", Observed: "not ready"}},
		Progress: &graph.Progress{Done: 1, Total: 3, Unit: "node", Current: "n-1"},
	}
	if diff := cmp.Diff(want, catalogue.Live(entry, at.Add(time.Minute))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The history has a line for each change of direction: A to B, B to C, A to B again.
func TestLiveAddsUpTransitionsThatAreTakenAgain(t *testing.T) {
	entry := &lifecyclev1.Lifecycle{State: "B", History: []lifecyclev1.Transition{
		{Event: "selected", From: "A", To: "B", Times: 2}, {Event: "skipped", From: "B", To: "A"}, {Event: "selected", From: "A", To: "B"},
	}}
	want := []graph.Walk{{Event: "selected", From: "A", To: "B", Count: 3}, {Event: "skipped", From: "B", To: "A", Count: 1}}
	if diff := cmp.Diff(want, catalogue.Live(entry, time.Time{}).Walked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
