//go:build e2e

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/test/e2e/stage"
)

var _ = Describe("A Ceph", Label("ceph"), func() {
	It("of release 14 is launched from nothing, upgraded to 16, and component by component to 18 with the manager killed in each, while clients write", SpecTimeout(time.Hour), func(ctx SpecContext) {
		s := scenario(ctx)
		c := installCeph(ctx, s, "14.2.21")
		c.write(ctx, "14.2.21")
		c.pulled(ctx, "16.2.15")
		c.together = []ceph.Type{ceph.TypeMDS}
		first := c.upgrade(ctx, "16.2.15")
		c.leases = first
		c.settled(ctx, "16.2.15")
		c.ordered(first, cephImage("16.2.15"), everyDaemon())
		c.released(ctx, "pacific")

		c.pulled(ctx, "18.2.7")
		c.together = nil
		phases := c.componentByComponent(ctx)
		c.finish(ctx, append([]*stage.Phase{first}, phases...)...)
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
})

// componentByComponent upgrades from 16 to 18: first the monitors, then managers and OSDs, then the rest. The manager is killed in each.
func (c *store) componentByComponent(ctx SpecContext) []*stage.Phase {
	GinkgoHelper()
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
	return []*stage.Phase{mon, osd, rest}
}
