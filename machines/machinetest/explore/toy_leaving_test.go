package explore_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/transitions"
)

// broker is to be removed. Its pod is the ConfigMap. Kafka reports it as fenced when it receives no heartbeat: because its
// process has ended or because it is only disconnected.
type broker struct {
	registered, running, cut bool
	harm                     string
}

func (b broker) Clone() explore.World { return &b }

func (b *broker) fenced() bool { return !b.running || b.cut }

func (b *broker) AppendCanonical(dst []byte, _ *explore.Scenario) []byte {
	for _, is := range []bool{b.registered, b.running, b.cut} {
		if is {
			dst = append(dst, 1)
		}
		dst = append(dst, 0)
	}
	return append(dst, b.harm...)
}

func (b *broker) Next(at *explore.Scenario) []explore.Step {
	var out []explore.Step
	if b.cut {
		out = append(out, explore.Step{Name: "the broker is heard of again", Do: func(at *explore.Scenario) { brokerOf(at).cut = false }})
	}
	if b.running && !podOf(at) {
		out = append(out, explore.Step{Name: "the process ends with its pod", Do: func(at *explore.Scenario) { brokerOf(at).running = false }})
	}
	if b.running && !b.cut {
		out = append(out, explore.Step{Name: "the broker is cut off", Fault: "cut off", Do: func(at *explore.Scenario) { brokerOf(at).cut = true }})
	}
	return out
}

func brokerOf(at *explore.Scenario) *broker {
	b, _ := at.World().(*broker)
	return b
}

type leavingFacts struct{ wanted, pod, registered, fenced bool }

// leaving removes a broker: it stops it, and unregisters it once its pod is gone and Kafka reports it as fenced. Kafka would
// also unregister a disconnected broker that runs, which would then come back unregistered. With the seeded bug it relies on
// Kafka alone.
func leaving(seeded bool) toySubject {
	gone := transitions.All(
		yes("pod-gone", func(f *leavingFacts) bool { return !f.pod }),
		yes("fenced", func(f *leavingFacts) bool { return f.fenced }))
	if seeded {
		gone = gone.Parts()[1]
	}
	unwanted := yes("unwanted", func(f *leavingFacts) bool { return !f.wanted })
	left := yes("left", func(f *leavingFacts) bool { return f.wanted || !f.registered })
	y := toy[leavingFacts]{
		definition: machines.Definition[leavingFacts, struct{}, string]{
			Name: "leaving", Doc: "removes a broker",
			States: []machines.State[leavingFacts, struct{}, string]{
				rest[leavingFacts](),
				works("Stopping", unwanted, func(*leavingFacts) []string { return []string{"stop"} }),
				works("Unregistering", transitions.All(unwanted, gone), func(*leavingFacts) []string { return []string{"unregister"} }),
			},
			Transitions: []machines.Transition[leavingFacts, struct{}]{
				edge("leaves", "Settled", "Stopping", transitions.Not(left, "a broker that is to leave")),
				edge("stopped", "Stopping", "Unregistering", gone),
				edge("unregistered", "Unregistering", "Settled", left),
			},
			Target: func(*leavingFacts) machines.Target { return machines.Target{To: "gone"} },
			Infer:  place[leavingFacts](),
		},
		observe: func(wanted string, child *corev1.ConfigMap, world explore.World) leavingFacts {
			b, _ := world.(*broker)
			return leavingFacts{wanted == "stay", child.ResourceVersion != "", b.registered, b.fenced()}
		},
		execute: func(ctx context.Context, at *explore.Scenario, t effectRequest) error {
			if t.Effect == "stop" {
				if t.Snapshot.child.ResourceVersion == "" {
					return nil
				}
				return t.Write.Delete(ctx, t.Snapshot.child)
			}
			b := brokerOf(at)
			if b.registered && podOf(at) {
				b.harm = "the broker is unregistered although its pod runs"
			}
			b.registered = false
			return nil
		},
	}
	s := y.subject("leave", &broker{registered: true, running: true})
	s.Children = append(s.Children, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "toy"}})
	s.Keep = []string{"ConfigMap"}
	s.Invariant = harmOf
	return s
}
