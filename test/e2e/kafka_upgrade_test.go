//go:build e2e

package e2e

import (
	"math/rand/v2"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
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
		p := b.change(ctx, "4.3.1", "")
		b.settled(ctx, "4.3.1")
		b.noteReady(p, "edit")
		b.rolled(ctx, p)
		b.finish(ctx)
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
