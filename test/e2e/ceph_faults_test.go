//go:build e2e

package e2e

import (
	"context"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/test/e2e/stage"
)

var _ = Describe("A Ceph", Label("ceph"), func() {
	It("waits for what does not start, is gone or may not be stopped, and moves no daemon back when its policy is removed", SpecTimeout(55*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		c := installCeph(ctx, s, "16.2.15")
		c.write(ctx, "16.2.15")
		brokenMonitor(ctx, c)
		withoutManagers(ctx, c)
		deniedStop(ctx, c)
		policyRemoved(ctx, c)
		c.finish(ctx)
	})

	It("of release 18 refuses older and unknown releases, and replaces the daemons whose pods change, and no others", SpecTimeout(40*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		c := installCeph(ctx, s, "18.2.7")
		p := s.Phase("requests that are refused")
		c.refuses(ctx, `{"cephVersion":{"image":"`+cephImage("16.2.15")+`"}}`, "their data cannot be used by an older release", "18.2.7 or later")
		c.refuses(ctx, `{"cephVersion":{"image":"`+cephImage("21.0.0")+`"}}`, "set allowUnsupported to true")
		c.refuses(ctx, `{"cephVersion":{"image":"`+cephImage("21.0.0")+`","allowUnsupported":true}}`, "the most is two releases")
		c.edit(ctx, `{"spec":{"cephVersion":{"image":"`+cephImage("18.2.7")+`","allowUnsupported":false}}}`)
		c.settled(ctx, "18.2.7")
		p.End()
		Expect(p.Starts()).To(BeEmpty(), "daemons that were started")

		p = s.Phase("other resources")
		c.edit(ctx, `{"spec":{"resources":{"rgw":{"requests":{"memory":"96Mi"}},"mds":{"requests":{"memory":"96Mi"}},"osd":{"requests":{"memory":"192Mi"}},`+
			`"mgr":{"requests":{"memory":"96Mi"}},"mon":{"requests":{"memory":"96Mi"}}}}}`)
		c.away(ctx, p, ceph.TypeMon, 1)
		c.settled(ctx, "18.2.7")
		c.ordered(p, cephImage("18.2.7"), everyDaemon())

		p = s.Phase("Deployments that another release of the operator wrote, with the same pods")
		for _, d := range []ceph.Daemon{{Type: ceph.TypeMDS, ID: "files-a"}, {Type: ceph.TypeOSD, ID: "0"}} {
			c.kubectl(ctx, "annotate", "deployment", daemons.ObjectName(storeName, d), "--overwrite", render.Template+"=other")
		}
		entered(ctx, p, observation.LifecycleUpgrade, cephupgrade.ReplacingDaemon, 2)
		c.settled(ctx, "18.2.7")
		p.End()
		Expect(p.Starts()).To(BeEmpty(), "daemons that were started")

		p = s.Phase("another configuration, and another manager")
		c.edit(ctx, `{"spec":{"cephConfig":{"osd":{"debug ms":"1"}}}}`)
		Expect(cluster.Kill(ctx, leader(ctx))).To(Succeed())
		leader(ctx)
		c.settled(ctx, "18.2.7")
		c.still(ctx, p, "after a change of no pod")
		p.End()
		Expect(p.Starts()).To(BeEmpty(), "daemons that were started")
	})
})

// brokenMonitor begins with an image whose monitors do not start. No other daemon is touched, and another build of the version corrects it.
func brokenMonitor(ctx SpecContext, c *store) {
	GinkgoHelper()
	p := c.Phase("an image whose monitors do not start")
	c.policy(ctx, "18.2.7-broken", "mon")
	c.away(ctx, p, ceph.TypeMon, 1)
	c.says(ctx, cephupgrade.AwaitingDaemon, "does not run (CrashLoopBackOff: it ended with exit code 1 ")
	names, _ := p.Order()
	Consistently(func() []string { return started(p) }).WithContext(ctx).WithTimeout(30*time.Second).Should(Equal(names[:1]), "daemons that were started")
	c.says(ctx, cephupgrade.AwaitingDaemon)
}

// withoutManagers continues with an image that starts, and takes both managers away in the middle. Nothing is replaced, and a daemon that
// is lost meanwhile is created again on the version that it ran.
func withoutManagers(ctx SpecContext, c *store) {
	GinkgoHelper()
	p := c.ahead(ctx, "18.2.7", "mon")
	c.away(ctx, p, ceph.TypeMon, 1)
	c.scale(ctx, ceph.TypeMgr, "a", 0)
	c.scale(ctx, ceph.TypeMgr, "b", 0)
	c.says(ctx, cephupgrade.AwaitingHealth, "MGR_DOWN")
	lost := ceph.Daemon{Type: ceph.TypeOSD, ID: "1"}
	// Two processes of an OSD cannot use its data, so that the first one ends before its Deployment does.
	c.kubectl(ctx, "delete", "deployment", daemons.ObjectName(storeName, lost), "--cascade=foreground")
	Eventually(func() []string { return p.Images(lost.String()) }).WithContext(ctx).Should(HaveExactElements(HavePrefix(cephImage("16.2.15") + "@sha256:")))
	c.waits(ctx, p, "MGR_DOWN")
	c.scale(ctx, ceph.TypeMgr, "a", 1)
	c.scale(ctx, ceph.TypeMgr, "b", 1)
	c.says(ctx, cephupgrade.AwaitingAdmin)
	p.End()
	Expect(started(p)).To(Equal([]string{"mgr.a", "mgr.b", "mon.a", "mon.b", "mon.c", "osd.1"}), "daemons that were started")
	Expect(c.versions(ctx)).To(And(HaveKeyWithValue("mon", []string{"18.2.7"}), HaveKeyWithValue("mgr", []string{"16.2.15"}), HaveKeyWithValue("osd", []string{"16.2.15"})))
}

// deniedStop continues while a pool needs all of its OSDs, so that Ceph permits to stop none of them.
func deniedStop(ctx SpecContext, c *store) {
	GinkgoHelper()
	c.run(ctx, "ceph", "osd", "pool", "create", "tight", "8")
	c.run(ctx, "ceph", "osd", "pool", "set", "tight", "min_size", "3")
	p := c.ahead(ctx, "18.2.7", "mon", "mgr", "osd")
	c.says(ctx, cephupgrade.AwaitingOkToStop, "Ceph answers for osd.")
	c.still(ctx, p, "while Ceph permits to stop no OSD")
	c.says(ctx, cephupgrade.AwaitingOkToStop, "Ceph answers for osd.")
	c.run(ctx, "ceph", "osd", "pool", "set", "tight", "min_size", "2")
	c.says(ctx, cephupgrade.AwaitingAdmin)
	c.ordered(p, cephImage("18.2.7"), map[ceph.Type]int{ceph.TypeMgr: 2, ceph.TypeOSD: 3})
}

// policyRemoved removes the policy half way, and follows both ways out that the status names.
func policyRemoved(ctx SpecContext, c *store) {
	GinkgoHelper()
	p := c.Phase("the policy is removed")
	remove := func() {
		GinkgoHelper()
		c.edit(ctx, `{"spec":{"upgradePolicy":null}}`)
		c.says(ctx, cephupgrade.PolicyRemoved, "no daemon is moved back", "To finish, set spec.cephVersion.image to an image of 18.2.7",
			"To stay here, set spec.upgradePolicy to that image with the components mon, mgr, osd")
	}
	remove()
	c.still(ctx, p, "after the policy was removed")
	By("staying")
	c.policy(ctx, "18.2.7", "mon", "mgr", "osd")
	c.says(ctx, cephupgrade.AwaitingAdmin)
	By("finishing")
	remove()
	p.End()
	Expect(p.Starts()).To(BeEmpty(), "daemons that were started")
	p = c.upgrade(ctx, "18.2.7")
	c.settled(ctx, "18.2.7")
	c.ordered(p, cephImage("18.2.7"), map[ceph.Type]int{ceph.TypeRGW: 2, ceph.TypeMDS: 2})
}

// started are the daemons that were started in a phase, sorted by name.
func started(p *stage.Phase) []string { return slices.Sorted(maps.Keys(p.Starts())) }

// still says that no daemon is started for a while.
func (c *store) still(ctx context.Context, p *stage.Phase, when string) {
	GinkgoHelper()
	before := p.Starts()
	Consistently(p.Starts).WithContext(ctx).WithTimeout(30*time.Second).Should(Equal(before), "starts %s", when)
}

// kubectl runs a command in the namespace of the scenario that has to go well.
func (c *store) kubectl(ctx SpecContext, args ...string) {
	GinkgoHelper()
	_, err := cluster.Kubectl(ctx, append([]string{"--namespace=" + c.Namespace}, args...)...)
	Expect(err).NotTo(HaveOccurred())
}
