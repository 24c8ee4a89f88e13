//go:build e2e

package e2e

import (
	"math/rand/v2"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/clients/ceph"
)

var _ = Describe("A Ceph", Label("ceph"), func() {
	It("of one monitor is launched, and the monitor is replaced once its outage is accepted", Label("smoke"), SpecTimeout(10*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		c := installFrom(ctx, s, "ceph-small.yaml", "16.2.15")
		c.run(ctx, "ceph", "osd", "pool", "create", "things", "8")
		c.run(ctx, "ceph", "osd", "pool", "application", "enable", "things", "rados")
		c.run(ctx, "sh", "-c", "printf kept | rados --pool=things put greeting -")

		p := s.Phase("a change of its pod, refused")
		c.refuses(ctx, `{"resources":{"mon":{"requests":{"memory":"96Mi"}}}}`, "1 monitors have no majority without one", "detent.dev/accept-outage")
		p.End()
		Expect(p.Starts()).To(BeEmpty(), "daemons that were started")

		p = s.Phase("the outage is accepted")
		c.edit(ctx, `{"metadata":{"annotations":{"detent.dev/accept-outage":"mon"}}}`)
		c.away(ctx, p, ceph.TypeMon, 1)
		moment := rand.N(8 * time.Second)
		By("killing the manager " + moment.String() + " after the monitor went down")
		pass(ctx, moment)
		Expect(cluster.Kill(ctx, leader(ctx))).To(Succeed())
		c.settled(ctx, "16.2.15")
		p.End()
		Expect(p.Starts()).To(Equal(map[string]int{"mon.a": 1}), "starts of each daemon")
		c.healthy(ctx)
		Expect(c.run(ctx, "rados", "--pool=things", "get", "greeting", "-")).To(Equal("kept"))
	})
})
