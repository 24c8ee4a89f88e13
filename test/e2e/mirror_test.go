//go:build e2e

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/test/e2e/stage"
)

var _ = Describe("Offsets of a connector", Label("connect"), func() {
	It("are listed, altered in one edit with the stop, and the records are copied again", Label("smoke"), SpecTimeout(10*time.Minute), func(ctx SpecContext) {
		m := installMirror(ctx, scenario(ctx), "4.1.2", true, 100)
		roundTrip(ctx, m)
	})

	for _, version := range []string{"3.9.2", "4.1.2"} {
		It("are listed, altered, reset and restored with the manager killed after every edit, on workers of "+version, SpecTimeout(25*time.Minute), func(ctx SpecContext) {
			s := scenario(ctx)
			m := installMirror(ctx, s, version, false, 100)
			m.killing = true
			roundTrip(ctx, m)
			resetAndUndo(ctx, s, m)
		})
	}
})

// roundTrip copies the records from 40 on a second time.
func roundTrip(ctx SpecContext, m *mirror) {
	GinkgoHelper()
	p := m.Phase("list")
	Expect(m.listed(ctx, running)).To(ContainSubstring(`"offset": 99`))
	p.End()
	p = m.Phase("stop and alter in one edit")
	m.offset(ctx, 39)
	m.request(ctx, "alter", sourceConnector, stopped, "")
	m.settled(ctx)
	p.End()
	Expect(m.listed(ctx, stopped)).To(ContainSubstring(`"offset": 39`))
	p = m.Phase("resume")
	m.edit(ctx, nil, running, "")
	m.copied(ctx, 160, 100)
	m.settled(ctx)
	p.End()
}

// resetAndUndo copies all records again, and then none.
func resetAndUndo(ctx SpecContext, s *stage.Scenario, m *mirror) {
	GinkgoHelper()
	p := s.Phase("stop and reset in one edit")
	m.request(ctx, "reset", sourceConnector, stopped, "")
	m.settled(ctx)
	p.End()
	Expect(m.listed(ctx, stopped)).To(ContainSubstring(`"offsets": []`))
	p = s.Phase("undo the reset")
	m.request(ctx, "alter", sourceConnector, stopped, mirrorName+"-offsets-before")
	m.settled(ctx)
	p.End()
	Expect(m.listed(ctx, stopped)).To(ContainSubstring(`"offset": 99`))
	m.edit(ctx, nil, running, "source-offsets")
	m.produce(ctx, 10)
	m.copied(ctx, 170, 100)
	p = s.Phase("reset and resume")
	m.request(ctx, "reset", sourceConnector, stopped, "")
	m.settled(ctx)
	m.edit(ctx, nil, running, "")
	m.copied(ctx, 280, 100)
	p.End()

	By("listing all connectors")
	m.request(ctx, "list", "*", running, "")
	m.settled(ctx)
	Expect(m.entry(ctx, "source-offsets", sourceConnector)).To(ContainSubstring(`"offset": 109`))
	for name, connector := range map[string]string{"checkpoint-offsets": "east->west.MirrorCheckpointConnector", "heartbeat-offsets": "east->west.MirrorHeartbeatConnector"} {
		Expect(m.entry(ctx, name, connector)).To(ContainSubstring(`"offsets"`))
	}
}
