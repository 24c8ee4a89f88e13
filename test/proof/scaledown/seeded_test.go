package scaledown

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	controller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/proof/search"
	"github.com/detent-dev/detent/transitions"
)

// bug is a defect around the operator's code, and part of the violation by which a search finds it.
type bug struct {
	scene, found string
	kind         func(*controller.Kind)
}

// TestSeededBugs seeds a defect for each property: a search that does not find it proves nothing.
func TestSeededBugs(t *testing.T) {
	for name, b := range bugs() {
		t.Run(name, func(t *testing.T) {
			scenes := Scenes()
			scene := &scenes[slices.IndexFunc(scenes, func(s Scene) bool { return s.Name == b.scene })]
			subject, err := scene.Subject(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			subject.Kind = func(at *explore.Scenario) (controller.Kind, error) {
				kind, err := NewKind(at)
				kind = watched(at, kind)
				b.kind(&kind)
				return kind, err
			}
			search.Finds(t, subject, explore.Options{States: sample, Straight: true, Time: 5 * time.Minute}, b.found)
		})
	}
}

func bugs() map[string]bug {
	return map[string]bug{
		"fencing is not awaited, and the pod is not looked for": {
			scene: "two brokers leave", found: "is asked to be unregistered while its process runs",
			kind: observing(func(v *observation.Snapshot) {
				for i := range v.Nodes {
					if n := &v.Nodes[i]; n.Record.Stop {
						n.Pod, n.RolesRunning, n.Entry = observation.Pod{}, observation.Roles{}, observation.Entry{}
					}
				}
				v.Brokers = registrations(v.Brokers, func(b *kafkaclient.Broker) bool {
					b.Fencing = kafkaclient.Fenced
					return true
				})
			}),
		},
		"replicas are not counted": {
			scene: "two brokers leave", found: "is stopped while it holds replicas",
			kind: observing(func(v *observation.Snapshot) {
				if p, known := observation.Known(v.Partitions); known {
					p.Replicas = map[int32]int{}
					v.Partitions = transitions.Known(p, v.Partitions.At())
				}
				if all, known := observation.Known(v.LogDirs); known {
					all = maps.Clone(all)
					for id, dirs := range all {
						dirs.Dirs = []kafkaclient.LogDir{{Path: "/data"}}
						all[id] = dirs
					}
					v.LogDirs = transitions.Known(all, v.LogDirs.At())
				}
			}),
		},
		"a fenced broker counts as unregistered": {
			scene: "two brokers leave", found: "is released while its broker is registered",
			kind: observing(func(v *observation.Snapshot) {
				v.Brokers = registrations(v.Brokers, func(b *kafkaclient.Broker) bool { return b.Fencing != kafkaclient.Fenced })
			}),
		},
		"the level is raised before a registration of the past has ended": {
			scene: "level", found: "the level is asked to be raised while a broker of the past is registered",
			kind: observing(func(v *observation.Snapshot) {
				v.Brokers = registrations(v.Brokers, func(b *kafkaclient.Broker) bool { return b.ID != past })
			}),
		},
		"another broker is stopped": {
			scene: "two brokers leave", found: "is stopped although the spec requests it",
			kind: removing(func(r *kraftscaledown.Effect) {
				if r.Stop != nil {
					r.Stop = new(int32(1))
				}
			}),
		},
		"an id is released before its broker is unregistered": {
			scene: "two brokers leave", found: "is released while its broker is registered",
			kind: removing(func(r *kraftscaledown.Effect) {
				if r.Unregister != nil {
					r.Unregister, r.Release = nil, r.Unregister
				}
			}),
		},
	}
}

// removing changes the requests of the removal.
func removing(change func(*kraftscaledown.Effect)) func(*controller.Kind) {
	return func(k *controller.Kind) {
		execute := k.Execute
		k.Execute = func(ctx context.Context, t lifecycle.EffectRequest[*kafkav1beta2.Kafka, *observation.Snapshot, controller.Effect]) error {
			if t.Effect.Removal != nil {
				other := *t.Effect.Removal
				change(&other)
				t.Effect.Removal = &other
			}
			return execute(ctx, t)
		}
	}
}

// observing changes what is observed.
func observing(change func(*observation.Snapshot)) func(*controller.Kind) {
	return func(k *controller.Kind) {
		observe := k.Observe
		k.Observe = func(ctx context.Context, kafka *kafkav1beta2.Kafka, request lifecycle.ObserveRequest) (*observation.Snapshot, error) {
			v, err := observe(ctx, kafka, request)
			if err == nil {
				change(v)
			}
			return v, err
		}
	}
}

// registrations keeps the brokers for which keep, which may change them, returns true.
func registrations(fact transitions.Fact[kafkaclient.Brokers], keep func(*kafkaclient.Broker) bool) transitions.Fact[kafkaclient.Brokers] {
	b, known := observation.Known(fact)
	if !known {
		return fact
	}
	var kept []kafkaclient.Broker
	for _, one := range b.Brokers {
		if keep(&one) {
			kept = append(kept, one)
		}
	}
	b.Brokers = kept
	return transitions.Known(b, fact.At())
}
