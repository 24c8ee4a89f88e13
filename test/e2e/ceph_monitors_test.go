//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A Ceph", Label("ceph"), func() {
	for _, version := range []string{"16.2.15", "18.2.7"} {
		It("of one monitor gets others beside it, on "+version, SpecTimeout(10*time.Minute), func(ctx SpecContext) {
			s := scenario(ctx)
			c := installFrom(ctx, s, "ceph-small.yaml", version)
			c.run(ctx, "ceph", "osd", "pool", "create", "things", "8")
			c.run(ctx, "ceph", "osd", "pool", "application", "enable", "things", "rados")
			c.run(ctx, "sh", "-c", "printf kept | rados --pool=things put greeting -")
			founded := c.run(ctx, "ceph", "fsid")
			var sizes struct {
				Nodes []struct {
					KiB float64 `json:"kb"`
				} `json:"nodes"`
			}
			Expect(json.Unmarshal([]byte(c.run(ctx, "ceph", "osd", "df", "--format=json")), &sizes)).To(Succeed())
			Expect(sizes.Nodes).To(HaveLen(1))
			Expect(sizes.Nodes[0].KiB/(3<<20)).To(BeNumerically("~", 0.93, 0.03), "the OSD in relation to its claim")

			p := s.Phase("another pod of the only monitor")
			c.refuses(ctx, `{"resources":{"mon":{"requests":{"memory":"96Mi"}}}}`, "1 monitors have no majority without one", "accept the outage with the annotation")
			c.edit(ctx, `{"spec":{"resources":{"mon":{"requests":{"memory":"64Mi"}}}}}`)
			c.settled(ctx, version)
			p.End()
			Expect(p.Starts()).To(BeEmpty(), "daemons that were started")

			p = s.Phase("three are declared")
			c.edit(ctx, `{"spec":{"mon":{"count":3,"allowMultiplePerNode":true}}}`)
			Eventually(func(ctx context.Context) ([]string, error) {
				out, err := c.ask(ctx, "ceph", "quorum_status", "--format=json")
				if err != nil {
					return nil, err
				}
				var quorum struct {
					Names []string `json:"quorum_names"`
				}
				return quorum.Names, json.Unmarshal([]byte(out), &quorum)
			}).WithContext(ctx).WithTimeout(cephPatience).Should(ConsistOf("a", "b", "c"), c.said(ctx))
			c.settled(ctx, version)
			p.End()
			Expect(p.Starts()).To(Equal(map[string]int{"mon.b": 1, "mon.c": 1}), "starts of each daemon")
			Expect(c.run(ctx, "ceph", "fsid")).To(Equal(founded))
			Expect(c.run(ctx, "rados", "--pool=things", "get", "greeting", "-")).To(Equal("kept"))
			c.healthy(ctx)
		})
	}
})
