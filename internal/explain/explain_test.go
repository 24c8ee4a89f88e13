package explain_test

import (
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/explain"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/test/golden"
	"github.com/detent-dev/detent/test/turnstile"
)

var now = time.Date(2026, 11, 20, 8, 35, 33, 0, time.UTC)

func graphOf[F, D, E any](t *testing.T, definition machines.Definition[F, D, E]) machines.Graph {
	t.Helper()
	machine, err := machines.Compile(definition)
	if err != nil {
		t.Fatal(err)
	}
	return machine.Graph()
}

func stateOf(t *testing.T, m machines.Graph, name string) string {
	t.Helper()
	text, found := explain.State(m, name)
	if !found {
		t.Fatalf("machine %s has no state %s", m.Name, name)
	}
	return text
}

// compare compares text with a file of testdata.
func compare(t *testing.T, name, text string) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", name+".txt"), text)
}

func TestMachine(t *testing.T) { compare(t, "machine", explain.Machine(graphOf(t, hello.Machine))) }

func TestState(t *testing.T) {
	greeting, kafka := graphOf(t, hello.Machine), graphOf(t, kafkaversion.Definition())
	compare(t, "rest", stateOf(t, greeting, "Settled"))
	compare(t, "work", stateOf(t, greeting, "Speaking"))
	compare(t, "wait", stateOf(t, kafka, "AwaitingInSync"))
	compare(t, "hold", stateOf(t, kafka, kafkaversion.AwaitingApproval))
	compare(t, "deadline-from-facts", stateOf(t, kafka, kafkaversion.Soaking))
	compare(t, "precondition", stateOf(t, kafka, kafkaversion.SettingMetadata))
	if text, found := explain.State(greeting, "Shouting"); found {
		t.Errorf("a state that the machine does not have: %s", text)
	}
}

func TestStateOfADeletion(t *testing.T) {
	gate := graphOf(t, turnstile.Definition())
	compare(t, "deletion", stateOf(t, gate, gate.Deletion.To))
	compare(t, "before-deletion", stateOf(t, gate, turnstile.Settled))
}

func TestPosition(t *testing.T) {
	m := graphOf(t, hello.Machine)
	m.Migrations = map[string]string{"Whispering": "Speaking"}
	at := func(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(d)) }
	deadline := at(-time.Second)
	for name, entry := range map[string]lifecyclev1.Lifecycle{
		"object": {
			Name: "hello", State: "Speaking", EnteredAt: at(-61 * time.Second), Deadline: &deadline,
			Attempt:    &lifecyclev1.Attempt{From: "good morning", To: "hello", StartedAt: at(-time.Hour)},
			Progress:   &lifecyclev1.Progress{Done: 1, Total: 3, Unit: "word", Current: "hello"},
			WaitingFor: []lifecyclev1.WaitingFor{{Guard: "spoken", Expected: "the wanted text in the ConfigMap", Observed: "good morning"}, {Guard: "action", Expected: "the action to succeed"}},
		},
		"object-of-an-earlier-release": {Name: "hello", State: "Whispering", EnteredAt: at(0)},
		"object-of-a-later-release":    {Name: "hello", State: "Singing", EnteredAt: at(time.Minute), Attempt: &lifecyclev1.Attempt{To: "hello", StartedAt: at(0)}},
	} {
		t.Run(name, func(t *testing.T) {
			compare(t, name, explain.Position(catalogue.Position{Object: "Greeting world", Entry: &entry, Machine: m}, now))
		})
	}
}
