package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/test/lab"
)

// scale of all declared times: a poll of five seconds becomes a poll of one fifth of that.
const scale = 0.04

// readInterval is how often all objects of a scene are read until a condition holds that then lasts. They are some hundred kilobytes
// of JSON for the API server and for the test.
const readInterval = 250 * time.Millisecond

// scene is a namespace in which an operator manages one object per visit.
type scene struct {
	context.Context //nolint:containedctx // it lives as long as its spec
	subject         Subject
	world           World
	namespace       string
	visits          []Visit
	operator        *lab.Operator
	graphs          map[string]machines.Graph
}

var scenes atomic.Int32

func newScene(ctx context.Context, s Subject, visits []Visit) *scene {
	GinkgoHelper()
	return sceneIn(ctx, s, s.World(), visits)
}

// sceneIn creates a scene that shares a world with other scenes.
func sceneIn(ctx context.Context, s Subject, world World, visits []Visit) *scene {
	GinkgoHelper()
	sc := &scene{
		Context: ctx, subject: s, world: world, namespace: fmt.Sprintf("%s-%d", s.Name(), scenes.Add(1)), visits: visits, graphs: s.Graphs(),
	}
	Expect(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: sc.namespace}})).To(Succeed())
	DeferCleanup(func() {
		if CurrentSpecReport().Failed() {
			sc.Context = context.Background() // that of the spec has ended
			sc.report()
		}
		if sc.operator != nil {
			Expect(sc.operator.Kill()).To(Succeed())
		}
		//  No object of a scene may keep running in the simulated world after the scene.
		Expect(admin.DeleteAllOf(context.Background(), &corev1.Pod{}, client.InNamespace(sc.namespace), client.GracePeriodSeconds(0))).To(Succeed())
	})
	return sc
}

// report writes the statuses of all objects that are not at rest to the output of a spec that failed.
func (s *scene) report() {
	for name, o := range s.all() {
		if s.restless(o) == "" {
			continue
		}
		text, err := json.MarshalIndent(o.LifecycleStatus(), "", " ")
		Expect(err).NotTo(HaveOccurred())
		AddReportEntry(name, string(text))
	}
}

// start starts an operator. The previous one must be dead.
func (s *scene) start(gate *lab.Gate) {
	GinkgoHelper()
	s.operator = startIn(s, s.world, gate, s.namespace)
}

// startToDie starts an operator that dies after the point, however early it comes.
func (s *scene) startToDie(point string) {
	GinkgoHelper()
	s.operator = startWith(s, s.world, lab.Setup{Namespaces: []string{s.namespace}, Plan: &lab.Plan{Point: lab.Point{About: point, Nth: 1}, Fault: lab.CrashAfter}})
}

func startIn(ctx context.Context, world World, gate *lab.Gate, namespaces ...string) *lab.Operator {
	GinkgoHelper()
	return startWith(ctx, world, lab.Setup{Namespaces: namespaces, Gate: gate})
}

func startWith(ctx context.Context, world World, setup lab.Setup) *lab.Operator {
	GinkgoHelper()
	setup.Register, setup.DeadlineScale = world.Register, scale
	if own, ok := world.(Cached); ok {
		setup.Cache = own.Cache()
	}
	if own, ok := world.(Describing); ok {
		setup.Describe = own.Describe
	}
	if own, ok := world.(Scaled); ok {
		setup.DeadlineScale = own.Scale()
	}
	operator, err := bench.Start(ctx, setup)
	Expect(err).NotTo(HaveOccurred())
	return operator
}

func (s *scene) kill() {
	GinkgoHelper()
	Expect(s.operator.Kill()).To(Succeed())
}

// make creates all objects and waits until they are at rest.
func (s *scene) make() {
	GinkgoHelper()
	By("creating the objects of the scene")
	s.create()
	By("awaiting their rest")
	s.rest()
	if world, ok := s.world.(Lingering); ok {
		Eventually(func(g Gomega) {
			for _, v := range s.visits {
				what, err := world.Lingers(s, admin, s.key(v))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(what).To(BeEmpty(), v.String())
			}
		}).WithPolling(readInterval).Should(Succeed())
	}
}

func (s *scene) create() {
	GinkgoHelper()
	for _, v := range s.visits {
		if with, ok := s.world.(Companioned); ok {
			for _, o := range with.Companions(s.namespace, s.name(v)) {
				Expect(admin.Create(s, o)).To(Succeed())
			}
		}
		Expect(admin.Create(s, s.world.Make(s.namespace, s.name(v)))).To(Succeed())
	}
}

// unrested lists the objects that are not at rest, with their states.
func (s *scene) unrested() []string {
	GinkgoHelper()
	var out []string
	for name, o := range s.all() {
		if why := s.restless(o); why != "" {
			out = append(out, name+" "+why)
		}
	}
	slices.Sort(out)
	return out
}

func (s *scene) restless(o lifecycle.Object) string {
	status := o.LifecycleStatus()
	for _, name := range sortedKeys(s.graphs) {
		entry := entryOf(o, name)
		if kind := s.kindOf(name, entry.State); kind != string(states.Rest) {
			return fmt.Sprintf("in %s of %s, waiting for %v", entry.State, name, entry.WaitingFor)
		}
	}
	if status.ObservedGeneration != o.GetGeneration() || !meta.IsStatusConditionTrue(status.Conditions, lifecycle.Ready) {
		return fmt.Sprintf("has observed %d of %d and is not Ready", status.ObservedGeneration, o.GetGeneration())
	}
	return ""
}

func (s *scene) kindOf(lifecycle, state string) string {
	for _, known := range s.graphs[lifecycle].States {
		if known.Name == state {
			return known.Kind
		}
	}
	return ""
}

func (s *scene) rest() {
	GinkgoHelper()
	Eventually(s.unrested).WithPolling(readInterval).Should(BeEmpty())
}

// visit brings every object to its state and waits until nothing is written any more.
func (s *scene) visit() {
	GinkgoHelper()
	By("leading each to the state of its visit")
	for _, v := range s.visits {
		s.world.Hinder(v, s.key(v))
		s.edit(v, func(o lifecycle.Object) { s.world.Change(v, o) })
		if v.Wiped {
			s.tamper(v, func(status *lifecyclev1.Status) { *status = lifecyclev1.Status{} })
		}
	}
	Eventually(s.strayed).WithPolling(readInterval).Should(BeEmpty())
	s.settle()
}

// strayed lists the objects that are not in the state of their visit.
func (s *scene) strayed() []string {
	GinkgoHelper()
	var out []string
	all := s.all()
	for _, v := range s.visits {
		if got := entryOf(all[s.name(v)], v.Lifecycle); got.State != v.State {
			out = append(out, fmt.Sprintf("%s is in %s, waiting for %v", v, got.State, got.WaitingFor))
		}
	}
	return out
}

func (s *scene) settle() {
	GinkgoHelper()
	settle(s.namespace)
}

// settle waits until no write was answered for some time.
func settle(namespaces ...string) {
	GinkgoHelper()
	settleFor(quietFor, namespaces...)
}

// settleFor waits until no write was answered for the given time.
func settleFor(quiet time.Duration, namespaces ...string) {
	GinkgoHelper()
	last := -1
	Eventually(func() bool {
		now := 0
		for _, n := range namespaces {
			now += len(bench.Traffic.Of(n, lab.Request.Writes))
		}
		same := now == last
		last = now
		return same
	}).WithPolling(quiet).Should(BeTrue())
}

// release releases all objects and waits until they are at rest.
func (s *scene) release() {
	GinkgoHelper()
	for _, v := range s.visits {
		s.edit(v, s.world.Release)
	}
	s.rest()
}
