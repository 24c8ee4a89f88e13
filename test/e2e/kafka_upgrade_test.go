//go:build e2e

package e2e

import (
	"math/rand/v2"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/test/e2e/stage"
)

var _ = Describe("Upgrade", Label("kafka"), func() {
	It("across two minor versions in one step loses no record, with the manager killed three times", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, separate(), "4.1.2", nil)
		b.stream(ctx)
		p := b.change(ctx, "4.3.1", "")
		for i := range 3 {
			entered(ctx, p, versionChange, roll.RestartingNode, 1+2*i)
			pass(ctx, rand.N(8*time.Second))
			b.killLeader(ctx, versionChange)
		}
		k := b.settled(ctx, "4.3.1")
		b.rolled(ctx, p)
		Expect(k.Status.KafkaMetadataVersion).To(Equal("4.3-IV0"))
		Expect(p.Entered(versionChange, kafkaversion.SettingMetadata)).To(HaveLen(1))
		b.finish(ctx)
	})

	It("of three nodes in both roles takes one step after another, without a kill", SpecTimeout(15*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.1.2", nil)
		b.stream(ctx)
		watched, err := s.Table(ctx, kafkav1beta2.GroupVersion().WithResource("kafkas"), clusterName)
		Expect(err).NotTo(HaveOccurred())
		p := b.change(ctx, "4.3.1", "")
		entered(ctx, p, versionChange, roll.AwaitingInSync, 2)
		drawings := b.draw(ctx)
		b.settled(ctx, "4.3.1")
		b.noteReady(p, "edit")
		text, err := watched.Text()
		Expect(err).NotTo(HaveOccurred())
		b.rolled(ctx, p)
		b.finish(ctx)
		Expect(cluster.Publish("upgrade", text, drawings)).To(Succeed(), "the README shows this run")
	})

	It("of three nodes in both roles restarts each once, with the manager killed at each", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.1.2", nil)
		b.stream(ctx)
		p := b.change(ctx, "4.3.1", "")
		for i := range 3 {
			entered(ctx, p, versionChange, roll.RestartingNode, 1+i)
			b.killLeader(ctx, versionChange)
		}
		b.settled(ctx, "4.3.1")
		b.noteReady(p, "edit")
		b.rolled(ctx, p)
		b.finish(ctx)
	})
})

// draw draws the version change as it is now.
func (b *brokers) draw(ctx SpecContext) stage.Drawings {
	GinkgoHelper()
	k, err := b.get(ctx)
	Expect(err).NotTo(HaveOccurred())
	entry := lifecycle(k, versionChange)
	drawings, err := cluster.Draw(kafkaversion.Name, &entry)
	Expect(err).NotTo(HaveOccurred())
	return drawings
}
