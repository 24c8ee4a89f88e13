//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/test/e2e/stage"
)

var _ = Describe("A Ceph", Label("ceph"), func() {
	It("refuses what cannot be, and touches no pod for it", SpecTimeout(30*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		c := installCeph(ctx, s, "14.2.21")
		p := s.Phase("requests that are refused")
		c.refuses(ctx, `{"cephVersion":{"image":"quay.io/ceph/ceph:v18.2.7"}}`, "Ceph cannot be changed from 14.2.21", "Upgrade to an image of a release in between first")
		c.refuses(ctx, `{"cephVersion":{"image":"`+toolsImage+`"}}`, toolsImage, "is not an image of Ceph")
		c.refuses(ctx, `{"cephVersion":{"image":"quay.io/ceph/ceph:absent"}}`, "quay.io/ceph/ceph:absent", "check that it exists and can be pulled")
		c.refuses(ctx, `{"cephVersion":{"image":"quay.io/ceph/ceph:v14.2.21"},"upgradePolicy":{"cephVersion":{"image":"quay.io/ceph/ceph:v16.2.15"},"components":["osd"]}}`,
			"osd without mon, mgr", "add what is missing")
		c.edit(ctx, `{"spec":{"upgradePolicy":null}}`)
		c.settled(ctx, "14.2.21")
		p.End()
		Expect(p.Starts()).To(BeEmpty(), "daemons that were started")
	})

	It("waits in the middle of an upgrade while it is unhealthy, says why, and goes on by itself", SpecTimeout(30*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		c := installCeph(ctx, s, "16.2.15")
		c.run(ctx, "ceph", "mgr", "module", "enable", "selftest")
		c.raise(ctx, "BEFORE", "warning")
		c.usual(ctx)
		p := c.ahead(ctx, "18.2.7", "mon")
		c.away(ctx, p, ceph.TypeMon, 1)
		c.scale(ctx, "osd", "2", 0)
		c.waits(ctx, p, "OSD_DOWN")
		c.scale(ctx, "osd", "2", 1)

		c.away(ctx, p, ceph.TypeMon, 2)
		c.raise(ctx, "TESTED", "error")
		c.waits(ctx, p, "TESTED")
		By("letting it pass once it is a warning")
		c.raise(ctx, "TESTED", "warning")
		c.waits(ctx, p, "TESTED")
		o, err := c.get(ctx)
		Expect(err).NotTo(HaveOccurred())
		c.edit(ctx, `{"metadata":{"annotations":{"`+facts.IgnoreHealth+`":"TESTED=`+upgradeOf(o).Attempt.ID+`"}}}`)
		c.says(ctx, cephupgrade.AwaitingAdmin)
		p.End()
		Expect(p.Starts()).To(Equal(map[string]int{"mon.a": 1, "mon.b": 1, "mon.c": 1, "osd.2": 1}), "starts of each daemon")
		Expect(c.run(ctx, "ceph", "health", "detail")).To(And(ContainSubstring("RECENT_CRASH"), ContainSubstring("BEFORE")), "what was raised before")
	})
})

// refuses requests what is refused, with a text in the status.
func (c *store) refuses(ctx SpecContext, spec string, words ...string) {
	GinkgoHelper()
	begun := time.Now()
	c.edit(ctx, `{"spec":`+spec+`}`)
	c.says(ctx, cephupgrade.Refusing, words...)
	c.Note("refused after %.0f s: %s", time.Since(begun).Seconds(), strings.Join(words, ", "))
}

// waits says that the upgrade waits for a health code, and replaces no daemon meanwhile.
func (c *store) waits(ctx SpecContext, p *stage.Phase, code string) {
	GinkgoHelper()
	c.says(ctx, cephupgrade.AwaitingHealth, code)
	c.still(ctx, p, "while "+code+" is raised")
	c.says(ctx, cephupgrade.AwaitingHealth, code)
}

// raise a health code of a module of the manager, which may still be starting. The manager tells the monitors every few seconds: an
// upgrade that begins before would find a new code.
func (c *store) raise(ctx SpecContext, code, severity string) {
	GinkgoHelper()
	report := fmt.Sprintf(`{%q: {"severity": %q, "summary": "tested", "detail": ["tested"]}}`, code, severity)
	Eventually(func(ctx context.Context) error {
		_, err := c.ask(ctx, "ceph", "mgr", "self-test", "health", "set", report)
		return err
	}).WithContext(ctx).Should(Succeed(), "a module of the manager answers")
	Eventually(func(ctx context.Context) (string, error) { return c.ask(ctx, "ceph", "health", "detail") }).WithContext(ctx).
		Should(ContainSubstring(code), "the monitors have the code")
}

// usual raises what many clusters show for weeks: disks of monitors with little room, and a crash that nobody has looked at.
func (c *store) usual(ctx SpecContext) {
	GinkgoHelper()
	c.run(ctx, "ceph", "tell", "mon.*", "config", "set", "mon_data_avail_warn", "99")
	now := time.Now().UTC()
	report := fmt.Sprintf(`{"crash_id": %q, "timestamp": %q, "entity_name": "osd.0", "utsname_hostname": "host", "backtrace": ["main()"]}`,
		now.Format("2006-01-02_15:04:05.000000Z")+"_e2e", now.Format("2006-01-02T15:04:05.000000Z"))
	c.run(ctx, "sh", "-c", "echo '"+report+"' | ceph crash post -i -")
	Eventually(func(ctx context.Context) (string, error) { return c.ask(ctx, "ceph", "health", "detail") }).WithContext(ctx).WithTimeout(3*time.Minute).
		Should(And(ContainSubstring("MON_DISK_LOW"), ContainSubstring("RECENT_CRASH")), "the monitors have the codes")
}

// scale the Deployment of a daemon, as an admin would who stops it.
func (c *store) scale(ctx SpecContext, t ceph.Type, id string, replicas int) {
	GinkgoHelper()
	c.kubectl(ctx, "scale", "deployment", daemons.ObjectName(storeName, ceph.Daemon{Type: t, ID: id}), fmt.Sprintf("--replicas=%d", replicas))
}
