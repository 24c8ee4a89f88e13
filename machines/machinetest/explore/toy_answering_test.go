package explore_test

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/transitions"
)

const ring = "example.org/ring"

// bell is rung by users, who annotate the ConfigMap with the number of the ring.
type bell struct{ rung, answered int }

func (b bell) Clone() explore.World { return &b }

func (b *bell) AppendCanonical(dst []byte, _ *explore.Scenario) []byte {
	return append(dst, byte(b.rung), byte(b.answered)) //nolint:gosec // two
}

func (b *bell) Next(*explore.Scenario) []explore.Step {
	const most = 2
	if b.rung == most {
		return nil
	}
	return []explore.Step{{Name: fmt.Sprintf("a person rings, for the %d. time", b.rung+1), Fault: "rung", Do: func(at *explore.Scenario) {
		bellOf(at).rung++
		annotate(at, strconv.Itoa(bellOf(at).rung))
	}}}
}

func bellOf(at *explore.Scenario) *bell {
	b, _ := at.World().(*bell)
	return b
}

// annotate sets the annotation of the current ConfigMap, or removes it.
func annotate(at *explore.Scenario, value string) {
	at.Objects("ConfigMap", func(o client.Object) {
		next, ok := o.DeepCopyObject().(*corev1.ConfigMap)
		if !ok {
			return
		}
		next.Annotations = map[string]string{ring: value}
		if value == "" {
			next.Annotations = nil
		}
		at.Update(next)
	})
}

type answeringFacts struct{ rung string }

// answering answers a ring and removes the annotation: the one that it has answered, and no other, because every write requires
// the revision that was read. With the seeded bug it removes any annotation.
func answering(seeded bool) toySubject {
	quiet := yes("quiet", func(f *answeringFacts) bool { return f.rung == "" })
	y := toy[answeringFacts]{
		definition: machines.Definition[answeringFacts, struct{}, string]{
			Name: "answering", Doc: "answers who rings",
			States: []machines.State[answeringFacts, struct{}, string]{
				rest[answeringFacts](),
				works("Answering", transitions.Guard[answeringFacts, struct{}]{}, func(f *answeringFacts) []string {
					if f.rung == "" {
						return nil
					}
					return []string{f.rung}
				}),
			},
			Transitions: []machines.Transition[answeringFacts, struct{}]{
				edge("rung", "Settled", "Answering", transitions.Not(quiet, "somebody rang")),
				edge("answered", "Answering", "Settled", quiet),
			},
			Target: func(*answeringFacts) machines.Target { return machines.Target{To: "answered"} },
			Infer:  place[answeringFacts](),
		},
		observe: func(_ string, child *corev1.ConfigMap, _ explore.World) answeringFacts {
			return answeringFacts{child.Annotations[ring]}
		},
		execute: func(ctx context.Context, at *explore.Scenario, t effectRequest) error {
			answer := func() {
				if n, err := strconv.Atoi(t.Effect); err == nil {
					bellOf(at).answered = max(bellOf(at).answered, n)
				}
			}
			if seeded {
				answer()
				annotate(at, "")
				return nil
			}
			next := t.Snapshot.child.DeepCopy()
			delete(next.Annotations, ring)
			answer()
			return t.Write.Update(ctx, next)
		},
	}
	s := y.subject("answers", &bell{rung: 1})
	s.Children = append(s.Children, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "toy", Annotations: map[string]string{ring: "1"},
	}})
	s.Keep = []string{"ConfigMap"}
	s.Settled = func(_ *api.Greeting, world explore.World) error {
		if b, ok := world.(*bell); ok && b.answered < b.rung {
			return fmt.Errorf("ring %d was taken away and never answered", b.rung)
		}
		return nil
	}
	return s
}
