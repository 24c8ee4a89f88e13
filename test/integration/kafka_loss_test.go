package integration

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

var _ = Describe("what is lost", SpecPriority(longest()), func() {
	for _, s := range []Subject{clusters{}, removals{}} {
		It("is made again: the statuses of everything and all pods, in every state, all at once: "+s.Name(), func(ctx SpecContext) {
			losesEverything(ctx, s)
		}, NodeTimeout(2*timeLimit))
	}

	It("is made again as it was while the cluster is paused", func(ctx SpecContext) {
		sc, key := restingCluster(ctx, "paused", 1)
		before := running(ctx, key)
		sc.editNamed(key.Name, func(o lifecycle.Object) {
			o.SetAnnotations(map[string]string{lifecycle.PauseAnnotation: "true"})
			kafkaIn(o).Spec.Kafka.Version = newer
		})
		Eventually(func() metav1.Condition { return conditionOf(sc.object(key.Name), lifecycle.Paused) }).Should(HaveField("Status", metav1.ConditionTrue))
		losePods(ctx, key)
		Eventually(func() []string { return outside.born.of(key) }).Should(HaveEach(HaveSuffix("made 2 times")))
		Eventually(func() string { return running(ctx, key) }).Should(Equal(before))
		sc.editNamed(key.Name, func(o lifecycle.Object) { o.SetAnnotations(nil) })
		sc.rest()
		Expect(kafkaIn(sc.object(key.Name)).Status.KafkaVersion).To(Equal(newer))
	})
})

// losesEverything compares objects that lost their statuses and all pods with objects that lost nothing.
func losesEverything(ctx SpecContext, s Subject) {
	GinkgoHelper()
	begin := func() *scene {
		sc := newScene(ctx, s, visitsFor(s, lawLoss))
		sc.start(nil)
		sc.make()
		sc.visit()
		return sc
	}
	undisturbed := begin()
	undisturbed.release()
	undisturbed.settle()
	undisturbed.kill() // its outcome remains, and the other operator has the processor for itself

	disturbed := begin()
	for _, v := range disturbed.visits {
		disturbed.tamper(v, func(status *lifecyclev1.Status) { *status = lifecyclev1.Status{} })
		newEstate().Cleanup(disturbed.key(v))
		losePods(ctx, disturbed.key(v))
	}
	disturbed.release()
	disturbed.settle()
	disturbed.each(lawLoss, func(v Visit) string {
		want, got := undisturbed.outcome(undisturbed.key(v)), disturbed.outcome(disturbed.key(v))
		if want.End != got.End {
			return fmt.Sprintf("ended as\n    %s, want\n    %s", got.End, want.End)
		}
		return madeOnceMore(undisturbed.key(v), disturbed.key(v))
	})
}

var _ = Describe("a change of mind", func() {
	It("turns a roll back: what went comes back, what has not gone stays, and the level never moves", func(ctx SpecContext) {
		sc, key := restingCluster(ctx, "revert", 3)
		level := featureEpoch(key)
		film := filmed(ctx, key)
		sc.editNamed(key.Name, func(o lifecycle.Object) { kafkaIn(o).Spec.Kafka.Version = newer })
		gone := func() int { return len(outside.born.sequence(key, 3)) }
		Eventually(gone).Should(BeNumerically(">=", 1))
		sc.editNamed(key.Name, func(o lifecycle.Object) { kafkaIn(o).Spec.Kafka.Version = old })
		sc.rest()
		sc.settle()

		k := kafkaIn(sc.object(key.Name))
		Expect(k.Status.KafkaVersion).To(Equal(old))
		Expect(running(ctx, key)).NotTo(ContainSubstring(newer))
		Expect(featureEpoch(key)).To(Equal(level))
		Expect(gone()).To(BeNumerically("<=", 4), "one node went and came back, or two did")
		Expect(statesIn(film.cut(k), observation.LifecycleVersion)).NotTo(ContainElement("SettingMetadata"))
	}, NodeTimeout(2*timeLimit))

	It("that is refused holds back nothing else: another setting is still rolled out", func(ctx SpecContext) {
		sc, key := restingCluster(ctx, "refused", 1)
		sc.editNamed(key.Name, func(o lifecycle.Object) {
			kafkaIn(o).Spec.Kafka.Version = nowhere
			kafkaIn(o).Spec.Kafka.Config["queued.max.requests"] = value(24)
		})
		Eventually(func() []string { return outside.born.of(key) }).Should(HaveEach(HaveSuffix("made 2 times")))
		Eventually(func() lifecyclev1.Lifecycle { return entryOf(sc.object(key.Name), observation.LifecycleRoll) }).Should(HaveField("State", "Settled"))
		Expect(running(ctx, key)).To(ContainSubstring("@" + old + " "))
		Expect(refusal(sc, key.Name)()).To(And(HavePrefix("Refused"), ContainSubstring(nowhere)))
	})
})

// restingCluster is a scene with one cluster of dual-role nodes on the old version, at rest.
func restingCluster(ctx SpecContext, name string, nodes int) (*scene, client.ObjectKey) {
	GinkgoHelper()
	sc := newScene(ctx, clusters{}, nil)
	sc.start(nil)
	key := client.ObjectKey{Namespace: sc.namespace, Name: name}
	for _, o := range []client.Object{poolOf(key, "p", nodes, controllerRole, brokerRole), kafkaOf(key.Namespace, key.Name, old, "", nodes)} {
		Expect(admin.Create(ctx, o)).To(Succeed())
	}
	sc.rest()
	sc.settle()
	return sc, key
}

// losePods deletes the pods of a cluster at once, as the loss of a node does.
func losePods(ctx SpecContext, key client.ObjectKey) {
	GinkgoHelper()
	pods, err := podsOf(ctx, admin, key)
	Expect(err).NotTo(HaveOccurred())
	for _, p := range pods {
		Expect(client.IgnoreNotFound(admin.Delete(ctx, p, client.GracePeriodSeconds(0)))).To(Succeed())
	}
}

// running returns the pods of a cluster with their versions.
func running(ctx SpecContext, key client.ObjectKey) string {
	GinkgoHelper()
	pods, err := podsOf(ctx, admin, key)
	Expect(err).NotTo(HaveOccurred())
	return versionsOf(pods)
}

// madeOnceMore returns the pods that were not created as often as those of an undisturbed cluster, or once
// more.
func madeOnceMore(undisturbed, disturbed client.ObjectKey) string {
	want, got := outside.born.counts(undisturbed), outside.born.counts(disturbed)
	var out []string
	for _, name := range sortedKeys(want) {
		if n := got[name]; n < want[name] || n > want[name]+1 {
			out = append(out, fmt.Sprintf("%s was made %d times, want %d, or once more for the one that was lost", name, n, want[name]))
		}
	}
	if len(got) != len(want) {
		out = append(out, fmt.Sprintf("%d pods, want %d", len(got), len(want)))
	}
	return strings.Join(out, ", ")
}
