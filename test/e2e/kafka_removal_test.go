//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/machines/kraftscaledown"
)

var _ = Describe("A removal", Label("kafka"), func() {
	It("that is cancelled leaves no cordon and restarts nothing, and that of a controller is refused", SpecTimeout(25*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, append(dual(), pool{name: "brokers", count: 1, roles: brokerRole}), "4.3.1", nil)
		all, leaving := b.has(ctx, "all", 3), b.has(ctx, "brokers", 1)
		b.stream(ctx)
		before := b.processes(ctx)
		unchanged := func() {
			GinkgoHelper()
			b.has(ctx, "all", 3)
			b.has(ctx, "brokers", 1)
			Expect(b.processes(ctx)).To(Equal(before), "processes of the nodes")
			Eventually(func() string { return b.registered(ctx) }).WithContext(ctx).WithTimeout(patience).Should(Equal(joined(all, leaving)))
		}

		b.resized(ctx, "brokers", 0)
		b.awaiting(ctx, observation.LifecycleScaleDown, kraftscaledown.AwaitingEmpty, 3*time.Minute, "holds replicas of")
		b.blocked(ctx, "brokers", leaving...)
		b.keeps(ctx, "brokers", 1)
		unchanged()

		By("draining the broker, which does not end while another one hangs that is to get replicas")
		DeferCleanup(func(ctx SpecContext) { Expect(cluster.Chaos(ctx, "undo")).To(Succeed()) })
		hanging := b.Namespace + "/events-all-2"
		Expect(cluster.Chaos(ctx, "pause", hanging)).To(Succeed())
		b.edit(ctx, `{"metadata":{"annotations":{"detent.dev/drain":"true"}}}`)
		b.resized(ctx, "brokers", 0)
		b.awaiting(ctx, observation.LifecycleScaleDown, kraftscaledown.Draining, patience)
		Expect(b.configured(ctx, "brokers", leaving[0])).To(ContainSubstring("cordoned.log.dirs=*"), "configurations of the broker that leaves")
		p := b.keeps(ctx, "brokers", 1)
		Expect(p.Entered(observation.LifecycleScaleDown, kraftscaledown.EndingDrain)).NotTo(BeEmpty(), "times that the drain was ended")
		Expect(b.configured(ctx, "brokers", leaving[0])).NotTo(ContainSubstring("cordoned.log.dirs"), "configurations of the broker that stays")
		Expect(cluster.Chaos(ctx, "resume", hanging)).To(Succeed())
		unchanged()

		b.resized(ctx, "all", 2)
		b.awaiting(ctx, observation.LifecycleScaleDown, kraftscaledown.Refusing, 2*time.Minute, "ReplicasCannotChange",
			"KafkaNodePool all stays at 3 nodes and does not go to 2", "a static quorum cannot change")
		b.poolSays(ctx, "all", "ReplicasCannotChange")
		b.keeps(ctx, "all", 3)
		unchanged()
		b.finish(ctx)
	})

	It("that Kafka does not answer keeps the id, which is used again once Kafka lists it nowhere", SpecTimeout(30*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		pools := []pool{{name: "controllers", count: 1, roles: controllerRole}, {name: "brokers", count: 1, roles: brokerRole}, {name: "past", count: 1, roles: brokerRole}}
		b := install(ctx, s, pools, "4.1.2", nil)
		controller, one, past := b.has(ctx, "controllers", 1)[0], b.has(ctx, "brokers", 1), b.has(ctx, "past", 1)[0]
		Expect(b.registered(ctx)).To(Equal(joined(one, []int32{past})))
		DeferCleanup(func(ctx SpecContext) { Expect(cluster.Chaos(ctx, "undo")).To(Succeed()) })

		s.Phase("nothing is left of a broker but its process, and its pool grows")
		withoutManager(ctx, func() {
			GinkgoHelper()
			b.eraseAround(ctx, "past")
			b.editPool(ctx, "past", `{"spec":{"replicas":0}}`)
		})
		b.says(ctx, 3*time.Minute, "ForeignBroker", fmt.Sprintf("broker %d at ", past))
		b.editPool(ctx, "past", `{"spec":{"replicas":1}}`)
		other := b.grows(ctx, "past", past, one[0], controller)
		Eventually(func() string { return b.registered(ctx) }).WithContext(ctx).Should(Equal(joined(one, []int32{past, other})))

		s.Phase("its process ends, and the controller does not answer")
		hanging := b.Namespace + "/" + podOf("controllers", controller)
		withoutManager(ctx, func() {
			GinkgoHelper()
			b.remove(ctx, podOf("past", past))
			Eventually(func() string { return b.registered(ctx) }).WithContext(ctx).WithTimeout(patience).Should(ContainSubstring(fmt.Sprintf("%d fenced", past)))
			Expect(cluster.Chaos(ctx, "pause", hanging)).To(Succeed())
		})
		b.awaiting(ctx, observation.LifecycleScaleDown, kraftscaledown.Steady, patience, "cannot be read")
		b.resized(ctx, "brokers", 2)
		b.says(ctx, 3*time.Minute, "NodeIDsNotAssigned", "KafkaNodePool brokers does not get 1 of its 2 nodes yet", "the voters of its quorum")
		k, err := b.get(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(k.Status.NodeIDs).To(ConsistOf(controller, one[0], past, other), "node ids in the status")

		s.Phase("the controller answers")
		Expect(cluster.Chaos(ctx, "resume", hanging)).To(Succeed())
		two := b.has(ctx, "brokers", 2)
		Expect(two).NotTo(ContainElement(past), "ids of the brokers")
		Eventually(func(ctx context.Context) ([]int32, error) {
			k, err := b.get(ctx)
			return k.Status.NodeIDs, err
		}).WithContext(ctx).WithTimeout(patience).Should(ConsistOf(slices.Concat(two, []int32{controller, other})), "node ids in the status", b.said(ctx))
		Expect(b.has(ctx, "past", 1)).To(Equal([]int32{other}))
		Expect(b.registered(ctx)).To(Equal(joined(two, []int32{other})))

		released := time.Now()
		Eventually(func() bool { return slices.Contains(b.observers(ctx), past) }).WithContext(ctx).WithTimeout(patience).WithPolling(5*time.Second).
			Should(BeFalse(), "the quorum lists the removed broker as an observer")
		s.Note("the quorum listed the removed broker for %.0f s after its id had left the status", time.Since(released).Seconds())
		b.resized(ctx, "brokers", 3)
		three := b.has(ctx, "brokers", 3)
		Expect(three).To(ConsistOf(slices.Concat(two, []int32{past})), "ids of the brokers")
		Expect(b.registered(ctx)).To(Equal(joined(three, []int32{other})))
	})

	It("from a Kafka that does not list fenced brokers waits for a session, and leaves nothing to an upgrade", SpecTimeout(25*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, append(dual(), pool{name: "brokers", count: 1, roles: brokerRole}), "3.9.2", nil)
		all, leaving := b.has(ctx, "all", 3), b.has(ctx, "brokers", 1)
		Expect(b.registered(ctx)).To(Equal(joined(all, leaving)))

		p := b.resized(ctx, "brokers", 0)
		entered(ctx, p, observation.LifecycleScaleDown, kraftscaledown.Releasing, 1)
		b.awaiting(ctx, observation.LifecycleScaleDown, kraftscaledown.Steady, patience)
		p.End()
		absent, unregistering := p.Entered(observation.LifecycleScaleDown, kraftscaledown.AwaitingSession), p.Entered(observation.LifecycleScaleDown, kraftscaledown.Unregistering)
		Expect(absent).NotTo(BeEmpty(), "times that the end of the session was awaited")
		// In the first minute of a cluster, a request of an earlier manager may still have its effect: the broker is waited for again then.
		Expect(unregistering).To(HaveLen(len(absent)), "times that the broker was unregistered")
		waited := unregistering[len(unregistering)-1].Sub(absent[len(absent)-1])
		s.Note("unregistered after it was absent for %.1f s", waited.Seconds())
		k, err := b.get(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(waited).To(BeNumerically(">=", observation.SessionTimeout(k, &observation.Snapshot{})-time.Second), "time for which Kafka did not list the broker")
		Expect(p.Starts()).To(BeEmpty(), "nodes restarted")
		Expect(b.nodes(ctx)).To(HaveLen(3), "nodes that are left")
		b.removed(ctx, "brokers", leaving...)

		b.stream(ctx)
		up := b.change(ctx, "4.1.2", "")
		Expect(b.settled(ctx, "4.1.2").Status.KafkaMetadataVersion).To(Equal("4.1-IV1"))
		b.rolled(ctx, up)
		Expect(b.registered(ctx)).To(Equal(joined(all)), "registered brokers, of which 4.1.2 lists fenced ones too")
		b.finish(ctx)
	})
})
