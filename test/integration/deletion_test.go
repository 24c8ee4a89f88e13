package integration

import (
	"context"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/turnstile"
)

// Released is a World in which something could outlive an object.
type Released interface {
	// HinderDeletion keeps the lifecycles of an object in the first states of their deletions.
	HinderDeletion(key client.ObjectKey)
	// ReleaseDeletion removes that hindrance and every other one.
	ReleaseDeletion(key client.ObjectKey)
	// Left returns what outlives the object.
	Left(key client.ObjectKey) []string
}

func (w *gatehouse) HinderDeletion(key client.ObjectKey) {
	w.world.At(key, func(s *turnstile.Site) { s.Stuck["unseal"] = lifecycle.ErrWait })
}

func (w *gatehouse) ReleaseDeletion(key client.ObjectKey) {
	w.world.At(key, (*turnstile.Site).Release)
}

func (w *gatehouse) Left(key client.ObjectKey) (left []string) {
	w.world.At(key, func(s *turnstile.Site) {
		if s.Seal.Model != "" {
			left = append(left, "the seal for "+s.Seal.Model)
		}
	})
	return left
}

// policies are the ways in which a client may delete an object.
func policies() []metav1.DeletionPropagation {
	return []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}
}

// isDeletedFromEveryState deletes the object of every visit. One with something to release stays until it is released, also
// after a kill and with a wiped status. The law is shown only where there was something to release.
func isDeletedFromEveryState(sc *scene) {
	GinkgoHelper()
	world, releases := sc.world.(Released)
	all, holding := sc.all(), map[Visit]bool{}
	for i, v := range sc.visits {
		if releases {
			holding[v] = len(world.Left(sc.key(v))) > 0
			world.HinderDeletion(sc.key(v))
		}
		policy := policies()[i%len(policies())]
		Expect(admin.Delete(sc, all[sc.name(v)], client.PropagationPolicy(policy))).To(Succeed())
	}
	if releases {
		Eventually(sc.undecidedDeletions).WithPolling(readInterval).Should(BeEmpty())
	} else {
		for _, v := range sc.visits {
			sc.world.Release(all[sc.name(v)]) // a pod that is kept keeps the objects that are deleted in the foreground
		}
		Eventually(sc.all).WithPolling(readInterval).Should(BeEmpty())
	}
	if releases {
		for name := range sc.all() {
			sc.updateNamed(name, func(o lifecycle.Object) { *o.LifecycleStatus() = lifecyclev1.Status{} }, func(o lifecycle.Object) error { return admin.Status().Update(sc, o) })
		}
		sc.kill()
		sc.start(nil)
		for _, v := range sc.visits {
			world.ReleaseDeletion(sc.key(v))
		}
		Eventually(sc.all).WithPolling(readInterval).Should(BeEmpty())
	}
	sc.eachOf(lawDeletion, func(v Visit) bool { return holding[v] }, func(v Visit) string {
		if releases {
			return strings.Join(world.Left(sc.key(v)), ", ")
		}
		return ""
	})
	recorded := vacant
	if slices.Contains(slices.Collect(maps.Values(holding)), true) {
		recorded = show
	}
	for _, graph := range sc.graphs {
		for _, state := range graph.States {
			if state.OnlyDeletion {
				recorded(graph.Name, state.Name, lawDeletion)
			}
		}
	}
}

// undecidedDeletions lists the objects that exist without a lifecycle in the first state of its deletion.
func (s *scene) undecidedDeletions() []string {
	GinkgoHelper()
	var out []string
	for name, o := range s.all() {
		held := controllerutil.ContainsFinalizer(o, lifecycle.Finalizer)
		for lc, graph := range s.graphs {
			if entry := entryOf(o, lc); graph.Deletion == nil || entry.State == graph.Deletion.To {
				continue
			}
			held = false
		}
		if !held {
			out = append(out, name+" "+s.restless(o))
		}
	}
	slices.Sort(out)
	return out
}

var _ = Describe("the deletion of an object with something to release", func() {
	// sealed is a scene with one turnstile at rest.
	sealed := func(ctx SpecContext) (*scene, *gatehouse, client.ObjectKey) {
		GinkgoHelper()
		visit := Visit{Lifecycle: "model", State: turnstile.Settled}
		sc := newScene(ctx, gates{}, []Visit{visit})
		sc.start(nil)
		sc.make()
		world, ok := sc.world.(*gatehouse)
		Expect(ok).To(BeTrue())
		return sc, world, sc.key(visit)
	}
	gone := func(sc *scene) func() int { return func() int { return len(sc.all()) } }

	It("waits while the manager does not run", func(ctx SpecContext) {
		sc, world, key := sealed(ctx)
		sc.kill()
		Expect(admin.Delete(ctx, sc.object(key.Name))).To(Succeed())
		Consistently(gone(sc), silentFor, silentFor/4).Should(Equal(1), "nothing released the seal")
		sc.start(nil)
		Eventually(gone(sc)).Should(BeZero())
		Expect(world.Left(key)).To(BeEmpty())
	}, NodeTimeout(timeLimit))

	It("does not hold the deletion of its namespace", func(ctx SpecContext) {
		sc, world, key := sealed(ctx)
		Expect(admin.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: sc.namespace}})).To(Succeed())
		Eventually(gone(sc)).Should(BeZero())
		Expect(world.Left(key)).To(BeEmpty())
		Eventually(func() error {
			return admin.Get(context.WithoutCancel(ctx), client.ObjectKey{Name: sc.namespace}, &corev1.Namespace{})
		}).Should(MatchError(ContainSubstring("not found")))
	}, NodeTimeout(timeLimit))
})
