package integration

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/test/lab"
)

var _ = Describe("a broker that is drained and removed", func() {
	It("is removed by operators that die one after the other, with all statuses deleted after each", func(ctx SpecContext) {
		world := newEstate()
		world.scale = 0.03 // each operator waits until the requests of its predecessors are settled: two seconds with this scale
		sc := sceneIn(ctx, clusters{}, world, nil)
		drained := brokers(sc, "drained", newest, poolOf(client.ObjectKey{Namespace: sc.namespace, Name: "drained"}, "more", 2, brokerRole))
		place(drained, 1, 2)
		sc.kill()
		sc.editNamed(drained.Name, func(o lifecycle.Object) { o.SetAnnotations(map[string]string{observation.AnnotationDrain: "true"}) })
		editPool(sc, "more", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 1 })

		entering := func(state string) string {
			return fmt.Sprintf("put kafkas/status drained: %s in %s", observation.LifecycleScaleDown, state)
		}
		for _, point := range []string{
			entering(kraftscaledown.AwaitingEmpty), entering(kraftscaledown.Cordoning), "cordon broker 2", entering(kraftscaledown.Draining), "move 1 partitions",
			entering(kraftscaledown.EndingDrain), "lift the cordon of broker 2", entering(kraftscaledown.StoppingNode), "post pods/eviction drained-more-2",
			entering(kraftscaledown.AwaitingGone), entering(kraftscaledown.Unregistering), "unregister broker 2", entering(kraftscaledown.Releasing),
		} {
			sc.start(nil)
			sc.operator.Arm(lab.Plan{Point: lab.Point{About: point, Nth: 1}, Fault: lab.CrashAfter})
			Eventually(sc.operator.Dead).WithTimeout(timeLimit).Should(BeTrue(), point)
			sc.kill()
			Expect(kafkaIn(sc.object(drained.Name)).Status.NodeIDs).To(Equal([]int32{0, 1, 2}), point)
			sc.updateNamed(drained.Name, func(o lifecycle.Object) { kafkaIn(o).Status = kafkav1beta2.KafkaStatus{} }, func(o lifecycle.Object) error { return admin.Status().Update(ctx, o) })
			world.Cleanup(drained)
		}
		sc.start(nil)
		Eventually(func() string { return sc.restless(sc.object(drained.Name)) }).WithTimeout(timeLimit).Should(BeEmpty())
		Expect(registrations(drained)).To(Equal([]int32{0, 1}))
		Expect(kafkaIn(sc.object(drained.Name)).Status.NodeIDs).To(Equal([]int32{0, 1}))
		Expect(holders(drained)).To(Equal([]int32{0, 1}))
		Expect(outside.born.of(drained)).To(HaveLen(3))
		Expect(outside.born.of(drained)).To(HaveEach(HaveSuffix("was made 1 times")))
	}, NodeTimeout(timeLimit))
})

var _ = Describe("registrations of brokers that are gone", func() {
	It("delay the metadata level, until those of a deleted pool, of a node that became a controller and of the past are removed", func(ctx SpecContext) {
		world := newEstate()
		world.scale = 0.05
		sc := sceneIn(ctx, clusters{}, world, nil)
		name := client.ObjectKey{Namespace: sc.namespace, Name: "leaves"}
		leaves := brokers(sc, name.Name, newer, poolOf(name, "deleted", 1, brokerRole), poolOf(name, "more", 1, brokerRole))
		place(leaves, 2)
		const past = 9 // its binaries do not support the level
		outside.ask(leaves, func(c *kafka.Cluster) { Expect(c.Register(past, oldest, true)).To(Succeed()) })
		world.at(leaves, func(s *site) { s.unregistrations = make(chan struct{}) })
		level := levelOf(leaves)
		Expect(admin.Delete(ctx, poolOf(name, "deleted", 1, brokerRole))).To(Succeed())
		editPool(sc, "both", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Roles = []kafkav1beta2.NodeRole{controllerRole} })
		sc.editNamed(leaves.Name, func(o lifecycle.Object) { kafkaIn(o).Spec.Kafka.MetadataVersion = newerLevel })
		Eventually(func() string {
			return fmt.Sprint(entryOf(sc.object(leaves.Name), observation.LifecycleVersion).WaitingFor)
		}).WithTimeout(timeLimit).Should(ContainSubstring("still registered: broker 9"))
		sc.settle()
		Expect(levelOf(leaves)).To(Equal(level))
		world.at(leaves, func(s *site) { close(s.unregistrations) })
		Eventually(func() int16 {
			var got int16
			outside.ask(leaves, func(c *kafka.Cluster) {
				if got = c.Level(kafkaclient.MetadataVersion); got > level {
					Expect(registered(c)).NotTo(ContainElement(int32(past)))
				}
			})
			return got
		}).WithTimeout(timeLimit).Should(BeNumerically(">", level))
		Eventually(func() []int32 { return registrations(leaves) }).WithTimeout(timeLimit).Should(Equal([]int32{2}))
		Eventually(func() string { return sc.restless(sc.object(leaves.Name)) }).WithTimeout(timeLimit).Should(BeEmpty())
		Expect(kafkaIn(sc.object(leaves.Name)).Status.NodeIDs).To(Equal([]int32{0, 2}))
	}, NodeTimeout(timeLimit))
})

// brokers creates a cluster of node 0 in the pool both, which is controller and broker, and of further pools, and waits until it rests.
func brokers(sc *scene, name, version string, pools ...*kafkav1beta2.KafkaNodePool) client.ObjectKey {
	GinkgoHelper()
	key := client.ObjectKey{Namespace: sc.namespace, Name: name}
	sc.start(nil)
	for _, o := range append(pools, poolOf(key, "both", 1, controllerRole, brokerRole)) {
		Expect(admin.Create(sc, o)).To(Succeed())
	}
	level := ""
	if version == newer {
		level = oldLevel
	}
	Expect(admin.Create(sc, kafkaOf(key.Namespace, key.Name, version, level, 1))).To(Succeed())
	sc.rest()
	sc.settle()
	return key
}

// place puts one replica of each partition on the brokers, in turn.
func place(cluster client.ObjectKey, on ...int32) {
	outside.ask(cluster, func(c *kafka.Cluster) {
		for i := range c.Partitions {
			id := on[i%len(on)]
			c.Partitions[i].Replicas, c.Partitions[i].InSync, c.Partitions[i].Leader = []int32{id}, 1, id
		}
	})
}

// holders returns the brokers that hold replicas, each in sync.
func holders(cluster client.ObjectKey) (ids []int32) {
	outside.ask(cluster, func(c *kafka.Cluster) {
		for _, p := range c.Partitions {
			ids = append(ids, p.ISR()...)
		}
	})
	slices.Sort(ids)
	return slices.Compact(ids)
}

func registered(c *kafka.Cluster) (ids []int32) {
	for i := range c.Registrations {
		ids = append(ids, c.Registrations[i].ID)
	}
	slices.Sort(ids)
	return ids
}

// registrations returns the ids of all registered brokers.
func registrations(cluster client.ObjectKey) (ids []int32) {
	outside.ask(cluster, func(c *kafka.Cluster) { ids = registered(c) })
	return ids
}

func levelOf(cluster client.ObjectKey) (level int16) {
	outside.ask(cluster, func(c *kafka.Cluster) { level = c.Level(kafkaclient.MetadataVersion) })
	return level
}

func editPool(sc *scene, name string, change func(*kafkav1beta2.KafkaNodePool)) {
	GinkgoHelper()
	Eventually(func() error {
		p := &kafkav1beta2.KafkaNodePool{}
		if err := admin.Get(sc, client.ObjectKey{Namespace: sc.namespace, Name: name}, p); err != nil {
			return err
		}
		change(p)
		return admin.Update(sc, p)
	}).Should(Succeed())
}
