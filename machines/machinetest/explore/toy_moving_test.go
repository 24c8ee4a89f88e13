package explore_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/transitions"
)

// offsets of a connector, for two partitions, which are moved one after the other.
type offsets struct {
	at   string
	harm string
}

const before, halfway, after = "3 3", "7 3", "7 7"

func (o offsets) Clone() explore.World { return &o }

func (o *offsets) AppendCanonical(dst []byte, _ *explore.Scenario) []byte {
	return append(append(dst, o.at...), o.harm...)
}

func (*offsets) Next(*explore.Scenario) []explore.Step { return nil }

type movingFacts struct{ at, kept string }

// moving keeps a connector's offsets before it moves them, so that they can be restored. Offsets that were kept are not
// overwritten: when the persisted state is lost in the middle it starts again, and the current offsets are not the original
// ones. With the seeded bug it overwrites them.
func moving(seeded bool) toySubject {
	kept := yes("kept", func(f *movingFacts) bool { return f.kept != "" })
	moved := yes("moved", func(f *movingFacts) bool { return f.at == after })
	if seeded {
		kept = yes("kept-now", func(f *movingFacts) bool { return f.kept == f.at })
	}
	y := toy[movingFacts]{
		definition: machines.Definition[movingFacts, struct{}, string]{
			Name: "moving", Doc: "moves a connector's offsets",
			States: []machines.State[movingFacts, struct{}, string]{
				rest[movingFacts](),
				works("Keeping", transitions.Always[movingFacts, struct{}](), func(f *movingFacts) []string { return []string{"keep"} }),
				works("Moving", yes("something-kept", func(f *movingFacts) bool { return f.kept != "" }), func(f *movingFacts) []string {
					if f.at == before {
						return []string{halfway}
					}
					return []string{after}
				}),
			},
			Transitions: []machines.Transition[movingFacts, struct{}]{
				edge("other-offsets", "Settled", "Keeping", transitions.Not(moved, "other offsets")),
				edge("kept", "Keeping", "Moving", kept),
				edge("moved", "Moving", "Settled", moved),
			},
			Target: func(*movingFacts) machines.Target { return machines.Target{To: after} },
			Infer:  place[movingFacts](),
		},
		observe: func(_ string, child *corev1.ConfigMap, world explore.World) movingFacts {
			o, _ := world.(*offsets)
			return movingFacts{o.at, child.Data["kept"]}
		},
		execute: func(ctx context.Context, at *explore.Scenario, t effectRequest) error {
			o, _ := at.World().(*offsets)
			if t.Effect != "keep" {
				o.at = t.Effect
				return nil
			}
			if t.Snapshot.child.Data["kept"] != "" && o.at != before {
				defer func() { o.harm = "the kept offsets are lost: what was kept last had been moved already" }()
			}
			return store(ctx, t, "kept", o.at)
		},
	}
	s := y.subject("moved", &offsets{at: before})
	s.Keep = []string{"ConfigMap"}
	s.Invariant = harmOf
	return s
}
