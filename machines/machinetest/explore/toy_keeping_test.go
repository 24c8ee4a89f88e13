package explore_test

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// keeping is a loop of two states through Rest: it says the text of the spec, and keeps a ConfigMap that no lifecycle reads.
func keeping(define func(*machines.Definition[speakingFacts, struct{}, string]), kind func(*toyKind)) toySubject {
	said := yes("said", func(f *speakingFacts) bool { return f.noted == f.wanted })
	y := toy[speakingFacts]{
		definition: machines.Definition[speakingFacts, struct{}, string]{
			Name: "keeping", Doc: "says a text",
			States: []machines.State[speakingFacts, struct{}, string]{
				rest[speakingFacts](),
				works("Speaking", transitions.Always[speakingFacts, struct{}](), func(f *speakingFacts) []string { return []string{f.wanted} }),
			},
			Transitions: []machines.Transition[speakingFacts, struct{}]{
				edge("text-changed", "Settled", "Speaking", transitions.Not(said, "another text")),
				edge("said", "Speaking", "Settled", said),
			},
			Target: func(f *speakingFacts) machines.Target { return machines.Target{To: f.wanted} },
			Infer:  place[speakingFacts](),
		},
		observe: func(wanted string, _ *corev1.ConfigMap, world explore.World) speakingFacts {
			w, _ := world.(*still)
			return speakingFacts{wanted, w.said}
		},
		execute: func(_ context.Context, at *explore.Scenario, t effectRequest) error {
			if w, ok := at.World().(*still); ok {
				w.said = t.Effect
			}
			return nil
		},
	}
	if define != nil {
		define(&y.definition)
	}
	s := y.subject("hello", &still{said: "hello"})
	s.Kind = func(at *explore.Scenario) (toyKind, error) {
		k, err := y.kind(at)
		k.Repair = keep
		if kind != nil {
			kind(&k)
		}
		return k, err
	}
	s.Edits, s.Restored = []explore.Edit[*api.Greeting]{asks("good day"), asks("hello")}, []string{"ConfigMap"}
	return s
}

// keep creates the ConfigMap of the object.
func keep(ctx context.Context, g *api.Greeting, v toyView, write lifecycle.Writer) error {
	if v.child.ResourceVersion != "" {
		return nil
	}
	return write.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: g.Namespace, Name: g.Name}})
}

// repairLast repairs where desired children are applied: after the transitions, in reconciles without one.
func repairLast(k *toyKind) { k.Repair, k.Apply = nil, k.Repair }

// only excludes all faults but these.
func only(s *toySubject, faults ...explore.Fault) {
	s.Without = slices.DeleteFunc(explore.Faults(), func(f explore.Fault) bool { return slices.Contains(faults, f) })
}

func keepingWhileRefused(seeded bool) toySubject {
	s := keeping(nil, when(seeded, repairLast))
	only(&s, explore.StatusRefused, explore.ChildLost, explore.Edited, explore.Restarts)
	return s
}

func keepingWhileFlapping(seeded bool) toySubject {
	s := keeping(nil, when(seeded, repairLast))
	// One kind of refusal: after two of them the back-off of a repair is longer than the reconciles of a target that flaps.
	only(&s, explore.Flaps, explore.ChildLost, explore.Invalid, explore.DiesAfter)
	return s
}

// keepingInPart restores nothing once it has said good day. Seeded, its subject does not say so.
func keepingInPart(seeded bool) toySubject {
	s := keeping(nil, nil)
	restores := func(world explore.World) bool {
		w, ok := world.(*still)
		return ok && w.said != "good day"
	}
	whole := s.Kind
	s.Kind = func(at *explore.Scenario) (toyKind, error) {
		k, err := whole(at)
		k.Repair = func(ctx context.Context, g *api.Greeting, v toyView, write lifecycle.Writer) error {
			if !restores(at.World()) {
				return nil
			}
			return keep(ctx, g, v, write)
		}
		return k, err
	}
	if !seeded {
		s.RestoredIf = restores
	}
	s.RestoredWithin = 16 // an edit leads to a reconcile of its own, while the cache has its second to show the last write
	only(&s, explore.ChildLost, explore.Edited)
	return s
}

// long is the number of reconciles with a flapping target until every limit of the runtime is reached.
const long = 180

// unbounded raises the limit so far that it is never reached.
func unbounded(seeded bool) toySubject {
	var kind func(*toyKind)
	if seeded {
		kind = func(k *toyKind) {
			k.Lifecycles[0] = machines.LifecycleOf(access.Key{}, tireless{k.Lifecycles[0].Evaluator(access.Key{})})
		}
	}
	s := keeping(nil, kind)
	s.Flapping, s.Passes, s.Within = long, 3*long, 24*time.Hour
	only(&s, explore.Flaps)
	return s
}

// silent drops the condition that shows the slow pace.
func silent(seeded bool) toySubject {
	s := keeping(nil, nil)
	s.Flapping, s.Passes, s.Within = long, 3*long, 24*time.Hour
	only(&s, explore.Flaps)
	if seeded {
		s.Through = func(cached client.Client, live client.Reader) (client.Client, client.Reader) {
			return unstalled{cached}, live
		}
	}
	return s
}

func when(seeded bool, change func(*toyKind)) func(*toyKind) {
	if seeded {
		return change
	}
	return nil
}

// tireless may take any number of transitions.
type tireless struct {
	machines.Evaluator[*api.Greeting, toyView, string]
}

func (tireless) MaxTransitionsWithoutProgress() int32 { return 100_000 }

// unstalled stores no status with a true Stalled condition.
type unstalled struct{ client.Client }

func (u unstalled) Status() client.SubResourceWriter { return unstalledStatus{u.Client.Status()} }

type unstalledStatus struct{ client.SubResourceWriter }

func (u unstalledStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if g, ok := o.(*api.Greeting); ok {
		for i := range g.LifecycleStatus().Conditions {
			if c := &g.LifecycleStatus().Conditions[i]; c.Type == lifecycle.Stalled {
				c.Status = metav1.ConditionFalse
			}
		}
	}
	return u.SubResourceWriter.Update(ctx, o, opts...)
}
