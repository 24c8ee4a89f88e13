//go:build e2e

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

var _ = Describe("A Ceph", Label("ceph"), func() {
	It("of release 14 is launched from nothing and upgraded to 16, while clients write", SpecTimeout(30*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		c := installCeph(ctx, s, "14.2.21")
		c.stalls = []ceph.Type{ceph.TypeOSD} // docs/decisions/0623-writes-wait-once-in-an-upgrade-from-release-14.md
		c.together = []ceph.Type{ceph.TypeMDS}
		c.write(ctx, "14.2.21")
		c.pulled(ctx, "16.2.15")
		p := c.upgrade(ctx, "16.2.15")
		c.settled(ctx, "16.2.15")
		c.ordered(p, cephImage("16.2.15"), everyDaemon())
		c.released(ctx, "pacific")
		c.finish(ctx, p)
	})

	It("of release 16 is upgraded to 18 in one step, without a kill, while clients write", SpecTimeout(30*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		c := installCeph(ctx, s, "16.2.15")
		c.write(ctx, "16.2.15")
		c.pulled(ctx, "18.2.7")
		p := c.upgrade(ctx, "18.2.7")
		c.settled(ctx, "18.2.7")
		c.ordered(p, cephImage("18.2.7"), everyDaemon())
		c.released(ctx, "reef")
		c.finish(ctx, p)
	})

	It("of release 16 is upgraded to 18 component by component, with the manager killed in each, while clients write", SpecTimeout(40*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		c := installCeph(ctx, s, "16.2.15")
		c.write(ctx, "16.2.15")
		c.pulled(ctx, "18.2.7")

		mon := c.ahead(ctx, "18.2.7", "mon")
		c.killIn(ctx, mon, ceph.TypeMon)
		c.says(ctx, cephupgrade.AwaitingAdmin)
		c.ordered(mon, cephImage("18.2.7"), map[ceph.Type]int{ceph.TypeMon: 3})
		Expect(c.versions(ctx)).To(And(HaveKeyWithValue("mon", []string{"18.2.7"}), HaveKeyWithValue("mgr", []string{"16.2.15"}),
			HaveKeyWithValue("osd", []string{"16.2.15"}), HaveKeyWithValue("mds", []string{"16.2.15"}), HaveKeyWithValue("rgw", []string{"16.2.15"})))
		c.released(ctx, "pacific")

		osd := c.ahead(ctx, "18.2.7", "mon", "mgr", "osd")
		c.killIn(ctx, osd, ceph.TypeMgr, ceph.TypeOSD)
		c.killAt(ctx, osd, cephupgrade.SelectingDaemon, cephupgrade.PreparingDaemon, cephupgrade.ReplacingDaemon)
		c.killAt(ctx, osd, cephupgrade.RequiringRelease)
		c.says(ctx, cephupgrade.AwaitingAdmin)
		c.ordered(osd, cephImage("18.2.7"), map[ceph.Type]int{ceph.TypeMgr: 2, ceph.TypeOSD: 3})
		Expect(c.versions(ctx)).To(And(HaveKeyWithValue("osd", []string{"18.2.7"}), HaveKeyWithValue("mds", []string{"16.2.15"})))
		c.released(ctx, "reef")

		rest := c.upgrade(ctx, "18.2.7")
		c.killIn(ctx, rest, ceph.TypeRGW, ceph.TypeMDS)
		c.settled(ctx, "18.2.7")
		c.ordered(rest, cephImage("18.2.7"), map[ceph.Type]int{ceph.TypeRGW: 2, ceph.TypeMDS: 2})
		c.finish(ctx, mon, osd, rest)
	})
})
