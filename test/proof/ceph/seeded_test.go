package ceph

import (
	"context"
	"slices"
	"testing"
	"time"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	controller "github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/proof/search"
	"github.com/detent-dev/detent/transitions"
)

// bug is a defect around the operator's code, and part of the violation by which a search finds it.
type bug struct {
	scene, found string
	// fault that is necessary to find it; empty for none.
	fault explore.Fault
	kind  func(*controller.Kind)
}

// TestSeededBugs seeds a defect for each property: a search that does not find it proves nothing.
func TestSeededBugs(t *testing.T) {
	for name, b := range bugs() {
		t.Run(name, func(t *testing.T) {
			scenes := Scenes()
			scene := &scenes[slices.IndexFunc(scenes, func(s Scene) bool { return s.Name == b.scene })]
			scene.prompt = true
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
			subject.Without = append(slices.Concat(explore.Faults(), subject.Faults), explore.Continues)
			subject.Without = slices.DeleteFunc(subject.Without, func(f explore.Fault) bool { return f == b.fault })
			search.Finds(t, subject, explore.Options{States: 300, Straight: true, Time: 5 * time.Minute, Follow: 1}, b.found)
		})
	}
}

func bugs() map[string]bug {
	mon := func(id string) cephclient.Daemon { return cephclient.Daemon{Type: cephclient.TypeMon, ID: id} }
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "0"}
	return map[string]bug{
		"two at once": {
			scene: "all daemons", found: "is being replaced",
			kind: also(func(e *cephupgrade.Effect) bool { return e.Daemon.Type == cephclient.TypeMon }, func(e *cephupgrade.Effect) {
				e.Daemon = mon(map[string]string{"a": "b", "b": "c", "c": "a"}[e.Daemon.ID])
			}),
		},
		"another order": {
			scene: "one monitor", found: "osd.0 changes before",
			kind: instead(func(e *cephupgrade.Effect) { e.Daemon = osd }),
		},
		"a denied permission is not regarded": {
			scene: "one monitor", found: "although Ceph does not permit it", fault: Denied,
			kind: observing(func(v *observation.Snapshot) {
				if v.Permission.Asked() {
					v.Permission = transitions.Known(cephclient.OKToStop{Permission: cephclient.Permitted}, v.Now)
				}
			}),
		},
		"the release is required before the last OSD": {
			scene: "one monitor", found: "is required while osd.",
			kind: also(func(e *cephupgrade.Effect) bool { return e.Daemon == osd }, func(e *cephupgrade.Effect) {
				*e = cephupgrade.Effect{Verb: cephupgrade.Require, Release: "pacific"}
			}),
		},
		"the release is required twice": {
			scene: "one monitor", found: "is required again",
			kind: func(k *controller.Kind) {
				k.Execute = repeated(k.Execute)
			},
		},
		"a pod from before is evidence": {
			scene: "other pods", found: "from before its change still runs",
			kind: observing(func(v *observation.Snapshot) {
				for d, pod := range v.Pods {
					if of := v.Deployments[d]; of != nil {
						v.Pods[d] = pod.DeepCopy()
						v.Pods[d].Annotations[render.Revision] = of.Spec.Template.Annotations[render.Revision]
					}
				}
			}),
		},
		"a daemon is moved back": {
			scene: "removed policy", found: "by the older release",
			kind: func(k *controller.Kind) {
				apply := k.Apply
				k.Apply = func(ctx context.Context, c *cephv1.Cluster, v *observation.Snapshot, write lifecycle.Writer) error {
					back := cephupgrade.Effect{Verb: cephupgrade.Replace, Daemon: mon("a"), Image: "ceph:16", Version: cephtest.Releases()["16"]}
					_ = k.Execute(ctx, effectRequest{Object: c, Snapshot: v, Effect: back, Write: write})
					return apply(ctx, c, v, write)
				}
			},
		},
		"a flag is left": {
			scene: "one monitor", found: "the flag noout of osd.",
			kind: observing(func(v *observation.Snapshot) {
				if m, known := observation.Known(v.Memory); known && v.Selected.ID == "" {
					m.NoOut = nil
					v.Memory = transitions.Known(m, v.Memory.At())
				}
				if h, known := observation.Known(v.Health); known { // nothing else shows it either
					h.Checks = slices.DeleteFunc(slices.Clone(h.Checks), func(c cephclient.Check) bool { return c.Code == "OSD_FLAGS" })
					v.Health = transitions.Known(h, v.Health.At())
				}
			}),
		},
	}
}

type executes = func(context.Context, effectRequest) error

// instead changes every replacement.
func instead(change func(*cephupgrade.Effect)) func(*controller.Kind) {
	return func(k *controller.Kind) {
		execute := k.Execute
		k.Execute = func(ctx context.Context, t effectRequest) error {
			if t.Effect.Verb == cephupgrade.Replace {
				change(&t.Effect)
			}
			return execute(ctx, t)
		}
	}
}

// also executes a further effect before the selected replacements.
func also(selected func(*cephupgrade.Effect) bool, change func(*cephupgrade.Effect)) func(*controller.Kind) {
	return func(k *controller.Kind) {
		execute := k.Execute
		k.Execute = func(ctx context.Context, t effectRequest) error {
			if t.Effect.Verb == cephupgrade.Replace && selected(&t.Effect) {
				other := t
				change(&other.Effect)
				_ = execute(ctx, other)
			}
			return execute(ctx, t)
		}
	}
}

// repeated requires the release again once it was required: it changes the text, so that the Sender takes it for another command.
func repeated(execute executes) executes {
	return func(ctx context.Context, t effectRequest) error {
		err := execute(ctx, t)
		if t.Effect.Verb == cephupgrade.Require {
			t.Effect.Session = 1
			for range 2 { // the first call reads the answer to the command before
				_ = execute(ctx, t)
			}
		}
		return err
	}
}

// observing changes what is observed.
func observing(change func(*observation.Snapshot)) func(*controller.Kind) {
	return func(k *controller.Kind) {
		observe := k.Observe
		k.Observe = func(ctx context.Context, c *cephv1.Cluster, request lifecycle.ObserveRequest) (*observation.Snapshot, error) {
			v, err := observe(ctx, c, request)
			if err == nil {
				change(v)
			}
			return v, err
		}
	}
}
