//go:build e2e

package e2e

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

var _ = Describe("Offsets of a connector", Label("connect"), func() {
	It("are altered in one edit with the stop, and the records are copied again", SpecTimeout(10*time.Minute), func(ctx SpecContext) {
		m := installMirror(ctx, scenario(ctx), workers{"4.1.2", true, 2000}, 100)
		alter(ctx, m, 100)
	})

	for _, version := range []string{"3.9.2", "4.1.2"} {
		It("are altered, reset and restored with the manager killed after every edit, on workers of "+version, SpecTimeout(25*time.Minute), func(ctx SpecContext) {
			m := installMirror(ctx, scenario(ctx), workers{version, false, 2000}, 100)
			m.killing = true
			resetAndUndo(ctx, m, alter(ctx, m, 100))
		})
	}

	for _, exactlyOnce := range []bool{true, false} {
		for _, leads := range []bool{true, false} {
			name := fmt.Sprintf("stay altered when a frozen worker continues: exactly once %v, leader %v", exactlyOnce, leads)
			It(name, SpecTimeout(25*time.Minute), func(ctx SpecContext) {
				// The frozen worker has copied records whose offsets it has not committed yet.
				const flush = 30 * time.Second
				m := installMirror(ctx, scenario(ctx), workers{"4.1.2", exactlyOnce, int(flush.Milliseconds())}, 100)
				frozen := m.worker(ctx, leads)
				pass(ctx, flush+10*time.Second)
				Expect(parse(m.listed(ctx, kafkav1beta2.ConnectorRunning)).copied()).To(Equal(100), "records whose offsets are committed")
				m.produce(ctx, 50)
				m.copied(ctx, 150, 100)
				Expect(cluster.Chaos(ctx, "pause", m.Namespace+"/"+frozen)).To(Succeed())
				DeferCleanup(func(ctx SpecContext) { Expect(cluster.Chaos(ctx, "undo")).To(Succeed()) })
				want, _ := m.halve(ctx)
				p := m.Phase("stop and alter while " + frozen + " is frozen")
				m.request(ctx, "alter", sourceConnector, kafkav1beta2.ConnectorStopped, "")
				m.settled(ctx)
				p.End()
				Expect(cluster.Chaos(ctx, "undo")).To(Succeed())
				pass(ctx, 2*flush) // the continued worker has had the time to commit
				Expect(parse(m.listed(ctx, kafkav1beta2.ConnectorStopped))).To(Equal(want))
				before, _ := m.records(ctx)
				if exactlyOnce {
					Expect(before).To(Equal(150), "records before the connector runs again")
				} // else the tasks of the frozen worker may have copied again on the other one
				m.edit(ctx, nil, kafkav1beta2.ConnectorRunning, "")
				m.copied(ctx, before+150-want.copied(), 100)
			})
		}
	}
})

// alter copies half of the records a second time, and returns how many there are in the target then.
func alter(ctx SpecContext, m *mirror, records int) int {
	GinkgoHelper()
	p := m.Phase("list")
	listed := parse(m.listed(ctx, kafkav1beta2.ConnectorRunning))
	p.End()
	Expect(listed.copied()).To(Equal(records), "%v", listed)
	want, again := m.halve(ctx)
	p = m.Phase("stop and alter in one edit")
	m.request(ctx, "alter", sourceConnector, kafkav1beta2.ConnectorStopped, "")
	m.settled(ctx)
	p.End()
	Expect(parse(m.listed(ctx, kafkav1beta2.ConnectorStopped))).To(Equal(want))
	p = m.Phase("resume")
	m.edit(ctx, nil, kafkav1beta2.ConnectorRunning, "")
	m.copied(ctx, records+again, records)
	m.settled(ctx)
	p.End()
	return records + again
}

// resetAndUndo copies no record again, and then all. The source has 100 records and gets 10 more.
func resetAndUndo(ctx SpecContext, m *mirror, copied int) {
	GinkgoHelper()
	p := m.Phase("stop and reset in one edit")
	m.request(ctx, "reset", sourceConnector, kafkav1beta2.ConnectorStopped, "")
	m.settled(ctx)
	p.End()
	Expect(parse(m.listed(ctx, kafkav1beta2.ConnectorStopped)).Offsets).To(BeEmpty())
	p = m.Phase("undo the reset")
	m.request(ctx, "alter", sourceConnector, kafkav1beta2.ConnectorStopped, mirrorName+"-offsets-before")
	m.settled(ctx)
	p.End()
	Expect(parse(m.listed(ctx, kafkav1beta2.ConnectorStopped)).copied()).To(Equal(100))
	m.edit(ctx, nil, kafkav1beta2.ConnectorRunning, "source-offsets")
	m.produce(ctx, 10)
	m.copied(ctx, copied+10, 100)
	p = m.Phase("reset and resume")
	m.request(ctx, "reset", sourceConnector, kafkav1beta2.ConnectorStopped, "")
	m.settled(ctx)
	m.edit(ctx, nil, kafkav1beta2.ConnectorRunning, "")
	m.copied(ctx, copied+10+110, 100)
	p.End()

	By("listing all connectors")
	m.request(ctx, "list", "*", kafkav1beta2.ConnectorRunning, "")
	m.settled(ctx)
	Expect(parse(m.entry(ctx, "source-offsets", sourceConnector)).copied()).To(Equal(110))
	for name, connector := range map[string]string{"checkpoint-offsets": "east->west.MirrorCheckpointConnector", "heartbeat-offsets": "east->west.MirrorHeartbeatConnector"} {
		Expect(m.entry(ctx, name, connector)).To(ContainSubstring(`"offsets"`))
	}
}
