//go:build e2e

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A Ceph", Label("ceph"), func() {
	It("of release 14 is launched from nothing and upgraded to 16, while clients write", SpecTimeout(30*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		c := installCeph(ctx, s, "14.2.21")
		c.write(ctx, "14.2.21")
		p := c.upgrade(ctx, "16.2.15")
		c.settled(ctx, "16.2.15")
		c.ordered(p)
		Expect(c.run(ctx, "ceph", "osd", "dump")).To(ContainSubstring("require_osd_release pacific"))
		Expect(c.run(ctx, "ceph", "osd", "dump")).NotTo(ContainSubstring("noout"))
		c.finish(ctx)
	})
})
