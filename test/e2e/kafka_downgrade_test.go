//go:build e2e

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/machines/kafkaversion"
)

var _ = Describe("Downgrade", Label("kafka"), func() {
	It("below the finalized metadata level is refused, also after a pause and without its status", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.3.1", nil)
		b.stream(ctx)
		p := b.change(ctx, "4.1.2", "")
		refused := func() {
			GinkgoHelper()
			b.awaiting(ctx, kafkaversion.Refusing, 2*time.Minute, "4.3-IV0", "4.1-IV1", "docs/downgrade.md")
		}
		refused()
		By("pausing and resuming")
		b.edit(ctx, `{"metadata":{"annotations":{"strimzi.io/pause-reconciliation":"true"}}}`)
		b.says(ctx, time.Minute, "Paused=True")
		b.edit(ctx, `{"metadata":{"annotations":{"strimzi.io/pause-reconciliation":null}}}`)
		b.silent(ctx, time.Minute, "Paused=True")
		refused()
		By("deleting the status")
		b.wipe(ctx)
		refused()
		Expect(p.Starts()).To(BeEmpty(), "nodes restarted")

		s.Phase("a node is lost while the change is refused")
		b.lose(ctx, "events-all-1", "4.3.1")
		refused()
		back := b.change(ctx, "4.3.1", "")
		b.settled(ctx, "4.3.1")
		back.End()
		Expect(back.Starts()).To(BeEmpty(), "nodes restarted")
		b.finish(ctx)
	})
})
