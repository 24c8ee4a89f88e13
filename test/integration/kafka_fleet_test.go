package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/noderoll"
	lifecycle "github.com/detent-dev/detent/runtime"
)

var _ = Describe("a fleet with --max-active=1", func() {
	It("rolls one cluster at a time, in order, also when the manager is killed", func(ctx SpecContext) {
		world := newEstate()
		world.maxActive = 1
		sc := sceneIn(ctx, clusters{}, world, nil)
		var names []string
		for i := range 3 {
			key := client.ObjectKey{Namespace: sc.namespace, Name: fmt.Sprintf("fleet-%d", i)}
			names = append(names, key.Name)
			for _, o := range []client.Object{poolOf(key, fmt.Sprintf("p%d", i), 3, controllerRole, brokerRole), kafkaOf(key.Namespace, key.Name, old, "", 3)} {
				Expect(admin.Create(ctx, o)).To(Succeed())
			}
		}
		sc.start(nil)
		sc.rest()

		r := watchRolls(sc)
		for _, name := range names {
			sc.editNamed(name, func(o lifecycle.Object) { kafkaIn(o).Spec.Kafka.Config["queued.max.requests"] = value(24) })
		}
		// One roll has the time-out of one Eventually, all three together take longer on a busy machine.
		for i := range names {
			Eventually(r.begun).Should(HaveLen(i+1), func() string { return whatRollsWaitFor(sc) })
			if i == 1 {
				sc.kill()
				sc.start(nil)
			}
			Eventually(r.ended).Should(BeNumerically(">", i), func() string { return whatRollsWaitFor(sc) })
		}
		sc.rest()
		Expect(r.begun()).To(ConsistOf(names), "each cluster rolls once")
		Expect(r.faults()).To(BeEmpty())
		Expect(r.waited()).To(ContainElements(r.begun()[1:]), "the clusters that showed that they wait for a slot")
	}, SpecTimeout(2*timeLimit))
})

// rolls follows the rolls of all clusters of a scene, in the order in which the API server stored them.
type rolls struct {
	mu      sync.Mutex
	entries map[string]lifecyclev1.Lifecycle
	order   []string
	over    int
	queue   []string
	wrong   []string
	// before are the clusters that waited when the last roll ended.
	before map[string]lifecyclev1.Lifecycle
}

func watchRolls(sc *scene) *rolls {
	GinkgoHelper()
	watching, err := client.NewWithWatch(plane.AdminConfig(), client.Options{Scheme: bench.Scheme, Mapper: bench.Mapper})
	Expect(err).NotTo(HaveOccurred())
	watcher, err := watching.Watch(sc, sc.subject.List(), client.InNamespace(sc.namespace))
	Expect(err).NotTo(HaveOccurred())
	r := &rolls{entries: map[string]lifecyclev1.Lifecycle{}}
	go func() {
		for e := range watcher.ResultChan() {
			if o, ok := e.Object.(lifecycle.Object); ok && e.Type != watch.Deleted {
				r.see(o.GetName(), entryOf(o, observation.LifecycleRoll))
			}
		}
	}()
	DeferCleanup(watcher.Stop)
	return r
}

func rolling(e lifecyclev1.Lifecycle) bool {
	return e.State != "" && e.State != noderoll.Settled && e.State != noderoll.AwaitingSlot
}

func (r *rolls) see(name string, is lifecyclev1.Lifecycle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.entries[name]
	r.entries[name] = is
	for _, w := range is.WaitingFor {
		if w.Guard == "slot-granted" && is.State == noderoll.AwaitingSlot && !slices.Contains(r.queue, name) {
			r.queue = append(r.queue, name)
		}
	}
	switch {
	case rolling(is) && !rolling(was):
		r.begins(name, is)
	case rolling(was) && !rolling(is):
		r.over++
		r.before = map[string]lifecyclev1.Lifecycle{}
		for other, e := range r.entries {
			if e.State == noderoll.AwaitingSlot {
				r.before[other] = e
			}
		}
	}
}

// begins notes a roll that begins, and what it should have waited for; r.mu is held.
func (r *rolls) begins(name string, is lifecyclev1.Lifecycle) {
	r.order = append(r.order, name)
	for other, e := range r.entries {
		if other != name && rolling(e) {
			r.wrong = append(r.wrong, name+" began while "+other+" rolled")
		}
	}
	for other, e := range r.before {
		if other != name && e.Attempt.StartedAt.Before(&is.Attempt.StartedAt) {
			r.wrong = append(r.wrong, name+" began although "+other+" had waited longer")
		}
	}
}

func (r *rolls) begun() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.order)
}

func (r *rolls) ended() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

func (r *rolls) waited() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.queue)
}

func (r *rolls) faults() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.wrong)
}

// whatRollsWaitFor is for the message of a failure.
func whatRollsWaitFor(sc *scene) string {
	var out []string
	for name, o := range sc.all() {
		e := entryOf(o, observation.LifecycleRoll)
		out = append(out, fmt.Sprintf("%s: %s since %s, waiting for %+v", name, e.State, e.EnteredAt.Format("15:04:05"), e.WaitingFor))
	}
	var budgets policyv1.PodDisruptionBudgetList
	Expect(admin.List(sc, &budgets, client.InNamespace(sc.namespace))).To(Succeed())
	for i := range budgets.Items {
		b := &budgets.Items[i]
		out = append(out, fmt.Sprintf("budget %s allows %d, believes to be on their way out: %v", b.Name, b.Status.DisruptionsAllowed, b.Status.DisruptedPods))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}
