package explore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/transitions"
)

// harmOf returns the harm in any toy's world.
func harmOf(_ *api.Greeting, world explore.World) error {
	harm := ""
	switch w := world.(type) {
	case *broker:
		harm = w.harm
	case *offsets:
		harm = w.harm
	}
	if harm == "" {
		return nil
	}
	return errors.New(harm)
}

// podOf reports whether the API server stores the ConfigMap.
func podOf(at *explore.Scenario) (there bool) {
	at.Objects("ConfigMap", func(client.Object) { there = true })
	return there
}

// still is a world that changes only by effects. It records what was said.
type still struct{ said string }

func (w still) Clone() explore.World { return &w }

func (w *still) AppendCanonical(dst []byte, _ *explore.Scenario) []byte {
	return append(dst, w.said...)
}

func (*still) Next(*explore.Scenario) []explore.Step { return nil }

type speakingFacts struct{ wanted, noted string }

// speaking says a text to the world, which cannot be observed, and notes it in the ConfigMap. A noted text was said: it speaks
// first, and then notes. With the seeded bug the order is reversed, and it may crash in between.
func speaking(seeded bool) toySubject {
	noted := yes("noted", func(f *speakingFacts) bool { return f.noted == f.wanted })
	y := toy[speakingFacts]{
		definition: machines.Definition[speakingFacts, struct{}, string]{
			Name: "speaking", Doc: "says a text and notes it",
			States: []machines.State[speakingFacts, struct{}, string]{
				rest[speakingFacts](),
				works("Speaking", transitions.Always[speakingFacts, struct{}](), func(f *speakingFacts) []string { return []string{f.wanted} }),
			},
			Transitions: []machines.Transition[speakingFacts, struct{}]{
				edge("text-changed", "Settled", "Speaking", transitions.Not(noted, "another text")),
				edge("noted", "Speaking", "Settled", noted),
			},
			Target: func(f *speakingFacts) machines.Target { return machines.Target{To: f.wanted} },
			Infer:  place[speakingFacts](),
		},
		observe: func(wanted string, child *corev1.ConfigMap, _ explore.World) speakingFacts {
			return speakingFacts{wanted, child.Data["text"]}
		},
		execute: func(ctx context.Context, at *explore.Scenario, t effectRequest) error {
			say := func() error {
				if w, ok := at.World().(*still); ok {
					w.said = t.Effect
				}
				return nil
			}
			note := func() error { return store(ctx, t, "text", t.Effect) }
			steps := []func() error{say, note}
			if seeded {
				steps = []func() error{note, say}
			}
			for _, step := range steps {
				if err := step(); err != nil {
					return err
				}
			}
			return nil
		},
	}
	s := y.subject("hello", &still{})
	s.Edits = append(s.Edits, asks("good day"))
	s.Without = []explore.Fault{explore.ChildLost} // a deleted note causes a repetition
	s.Settled = func(g *api.Greeting, world explore.World) error {
		if w, ok := world.(*still); ok && w.said != g.Spec.Text {
			return fmt.Errorf("%q shows as ready, and was never said", g.Spec.Text)
		}
		return nil
	}
	return s
}

// store writes a value into the toy's ConfigMap, and creates it if it is missing.
func store(ctx context.Context, t effectRequest, key, value string) error {
	next := t.Snapshot.child.DeepCopy()
	if next.Data == nil {
		next.Data = map[string]string{}
	}
	next.Data[key] = strings.Clone(value)
	if next.ResourceVersion == "" {
		return t.Write.Create(ctx, next)
	}
	return t.Write.Update(ctx, next)
}
