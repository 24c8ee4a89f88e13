//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/test/e2e/stage"
)

var _ = Describe("Brokers", Label("kafka"), func() {
	It("are added, drained and removed, with the manager killed and every status deleted in between", SpecTimeout(25*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		pools := []pool{{name: "controllers", count: 1, roles: controllerRole}, {name: "brokers", count: 3, roles: brokerRole, deletesClaims: true}}
		b := install(ctx, s, pools, "4.3.1", nil)
		three := b.has(ctx, "brokers", 3)

		grown := b.resized(ctx, "brokers", 5)
		five := b.has(ctx, "brokers", 5)
		grown.End()
		Expect(grown.Starts()).To(HaveLen(2), "nodes started")
		Expect(b.registered(ctx)).To(Equal(joined(five)))
		b.stream(ctx)

		less := b.resized(ctx, "brokers", 3)
		leaving := five[len(three):]
		b.awaiting(ctx, observation.LifecycleScaleDown, kraftscaledown.AwaitingEmpty, 3*time.Minute, "holds replicas of")
		b.blocked(ctx, "brokers", leaving...)
		pool, err := b.pool(ctx, "brokers")
		Expect(err).NotTo(HaveOccurred())
		Expect(pool.Status.NodeIDs).To(ConsistOf(five), "the ids that the pool lists while its brokers hold replicas")
		Expect(b.registered(ctx)).To(Equal(joined(five)))

		By("draining them")
		b.edit(ctx, `{"metadata":{"annotations":{"detent.dev/drain":"true"}}}`)
		entered(ctx, less, observation.LifecycleScaleDown, kraftscaledown.AwaitingGone, 1)
		b.killLeader(ctx, observation.LifecycleScaleDown)
		entered(ctx, less, observation.LifecycleScaleDown, kraftscaledown.Draining, 2)
		b.wipeAll(ctx)
		Expect(b.has(ctx, "brokers", 3)).To(Equal(three))
		less.End()
		Expect(b.registered(ctx)).To(Equal(joined(three)))
		Expect(b.nodes(ctx)).To(HaveLen(len(three)+1), "nodes that are left, with the controller")
		Expect(less.Starts()).To(BeEmpty(), "nodes restarted")
		b.removed(ctx, "brokers", leaving...)
		Expect(less.MostDown()).To(Equal(1), "nodes down at once")

		listed := b.observers(ctx)
		again := b.resized(ctx, "brokers", 5)
		last := b.has(ctx, "brokers", 5)
		Expect(last[:len(three)]).To(Equal(three))
		for _, id := range last[len(three):] {
			Expect(listed).NotTo(ContainElement(id), "observers of the quorum before the brokers were added")
		}
		Expect(b.registered(ctx)).To(Equal(joined(last)))
		s.Note("the ids of the brokers: %v, with two more %v, and with two more again %v", three, five, last)
		again.End()
		b.finish(ctx)
	})

	It("are unregistered if their pool is deleted, if they are gone without a trace, and if their nodes become controllers", SpecTimeout(25*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		pools := []pool{{name: "both", count: 3, roles: bothRoles}, {name: "brokers", count: 1, roles: brokerRole}, {name: "extra", count: 1, roles: brokerRole}, {name: "past", count: 1, roles: brokerRole}}
		b := install(ctx, s, pools, "4.1.2", nil)
		stay, extra, past := b.has(ctx, "brokers", 1), b.has(ctx, "extra", 1), b.has(ctx, "past", 1)
		Expect(b.registered(ctx)).To(Equal(joined(b.has(ctx, "both", 3), stay, extra, past)))

		p := b.Phase("nothing is left of a pool but a process, another is deleted, a third loses the role, and the version changes")
		withoutManager(ctx, func() {
			GinkgoHelper()
			b.eraseAround(ctx, "past")
			kubectl(ctx, s, "delete", "kafkanodepool/past")
			b.edit(ctx, `{"spec":{"kafka":{"version":"4.3.1"}}}`)
		})
		kubectl(ctx, s, "delete", "kafkanodepool/extra")
		b.editPool(ctx, "both", `{"spec":{"roles":["controller"]}}`)
		b.raiseWaitsFor(ctx, p, "past", past[0])
		k := b.settled(ctx, "4.3.1")
		Expect(k.Status.KafkaMetadataVersion).To(Equal("4.3-IV0"))
		Eventually(func() string { return b.registered(ctx) }).WithContext(ctx).WithTimeout(patience).Should(Equal(joined(stay)))
		b.has(ctx, "both", 3)
		p.End()
		b.removed(ctx, "extra", extra...)
		Expect(p.MostDown()).To(Equal(1), "nodes down at once")
		released, raised := p.Entered(observation.LifecycleScaleDown, kraftscaledown.Releasing), p.Entered(versionChange, kafkaversion.SettingMetadata)
		Expect(raised).To(HaveLen(1), "the metadata level is set once")
		Expect(len(released)).To(BeNumerically(">=", 5), "brokers removed")
		before := slices.DeleteFunc(released, func(at time.Time) bool { return at.After(raised[0]) })
		Expect(len(before)).To(BeNumerically(">=", 2), "brokers without a process that are removed before the metadata level is set, which waits for both")
		_, err := cluster.Kubectl(ctx, "get", "--namespace="+b.Namespace, "strimzipodset/events-extra")
		Expect(err).To(MatchError(ContainSubstring("NotFound")))
	})
})

// raiseWaitsFor says that a raise of the metadata level waits for a broker of which only the process is left, and for no other one, until it
// is unregistered. It ends the process.
func (b *brokers) raiseWaitsFor(ctx SpecContext, p *stage.Phase, pool string, id int32) {
	GinkgoHelper()
	waits := fmt.Sprintf("still registered: broker %d%s", id, kafkaversion.UnregisteredBy)
	b.awaiting(ctx, versionChange, kafkaversion.AwaitingUnregistration, patience, waits)
	b.noteWaits(ctx, "with a process of a broker that is none of this cluster")
	b.says(ctx, time.Minute, "ForeignBroker", fmt.Sprintf("broker %d at ", id))
	Consistently(func() []time.Time { return p.Entered(versionChange, kafkaversion.SettingMetadata) }).WithContext(ctx).WithTimeout(20*time.Second).
		Should(BeEmpty(), "times that the metadata level was set while the process runs")
	Expect(b.lists(ctx, id)).To(BeTrue(), "Kafka lists broker %d while its process runs", id)
	b.remove(ctx, podOf(pool, id))
	entered(ctx, p, versionChange, kafkaversion.SettingMetadata, 1)
	Expect(b.lists(ctx, id)).To(BeFalse(), "Kafka lists broker %d while the metadata level is set", id)
}
