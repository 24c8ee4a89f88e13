//go:build e2e

package e2e

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/connectoroffsets"
)

const (
	running = kafkav1beta2.ConnectorRunning
	stopped = kafkav1beta2.ConnectorStopped
	// flush is how often workers commit offsets if a scenario does not depend on it.
	flush = 2 * time.Second
)

var _ = Describe("Offsets of a connector", Label("connect"), func() {
	It("are altered in one edit with the stop, and records are copied again and skipped", Label("smoke"), SpecTimeout(10*time.Minute), func(ctx SpecContext) {
		m := installMirror(ctx, scenario(ctx), workers{version: "4.1.2", exactlyOnce: true, flush: flush}, 100)
		skip(ctx, m, copyAgain(ctx, m))
	})

	for _, version := range []string{"3.9.2", "4.1.2"} {
		It("are altered and reset once, and restored, with the manager killed in every state, on workers of "+version, SpecTimeout(35*time.Minute), func(ctx SpecContext) {
			m := installMirror(ctx, scenario(ctx), workers{version: version, flush: flush}, 100)
			m.killing = true
			resetAndUndo(ctx, m, copyAgain(ctx, m))
			listEvery(ctx, m)
		})
	}

	It("are altered and reset on all connectors at once", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		m := installMirror(ctx, scenario(ctx), workers{version: "4.1.2", exactlyOnce: true, flush: flush}, 100)
		want := alterEvery(ctx, m)
		resetEvery(ctx, m, want)
	})

	It("are altered once although the leading worker is killed while the connector stops, and the other one after the alter", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		m := installMirror(ctx, scenario(ctx), workers{version: "4.1.2", flush: flush}, 100)
		m.committed(ctx, 100)
		want := m.moved(ctx, half)
		leads, follows := m.worker(ctx, true), m.worker(ctx, false)
		p := m.Phase("stop and alter, with both workers killed")
		m.edit(ctx, requesting("alter", sourceConnector), source(stopped))
		Expect(cluster.Kill(ctx, m.pod(leads))).To(Succeed())
		m.reaches(ctx, connectoroffsets.Verifying)
		Expect(cluster.Kill(ctx, m.pod(follows))).To(Succeed())
		m.settled(ctx)
		p.End()
		Expect(m.listed(ctx, stopped)).To(Equal(want))
		m.edit(ctx, source(running))
		m.copied(ctx, 200-want.copied(), 100)
	})

	It("are altered once although the status is deleted and a GitOps tool applies the request again in every state", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		m := installMirror(ctx, scenario(ctx), workers{version: "4.1.2", flush: flush}, 100)
		m.committed(ctx, 100)
		want := m.moved(ctx, half)
		p := m.Phase("stop and alter, applied again in every state")
		apply := func() {
			m.apply(ctx, map[string]string{request.OperationAnnotation: "alter", request.ConnectorAnnotation: sourceConnector}, stopped)
		}
		apply()
		m.inEveryState(ctx, p, connectoroffsets.Alter, func() {
			m.wipe(ctx)
			apply()
		})
		p.End()
		done := m.record(ctx)

		By("applying what was done, which is not carried out again")
		for range 2 {
			m.repeated(ctx, apply)
			m.wipe(ctx)
		}
		m.repeated(ctx, apply)
		Expect(m.record(ctx)).To(Equal(done))
		m.apply(ctx, nil, stopped)
		m.settled(ctx)
		Expect(m.listed(ctx, stopped)).To(Equal(want))
		m.apply(ctx, nil, running)
		m.copied(ctx, 200-want.copied(), 100)
		m.Note("the status was deleted %d times; changes sent to Connect: %d", m.wiped, done.Sends)
	})

	for _, leads := range []bool{false, true} {
		It(fmt.Sprintf("stay altered when a frozen worker continues: exactly once true, leader %v", leads), SpecTimeout(25*time.Minute), func(ctx SpecContext) {
			m := installMirror(ctx, scenario(ctx), workers{version: "4.1.2", exactlyOnce: true, flush: 5 * time.Second, patient: true}, 100)
			continueAfterAlter(ctx, m, leads)
		})
		It(fmt.Sprintf("are altered once a frozen worker is ended: exactly once false, leader %v", leads), SpecTimeout(25*time.Minute), func(ctx SpecContext) {
			m := installMirror(ctx, scenario(ctx), workers{version: "4.1.2", flush: 30 * time.Second, patient: true}, 100)
			endBeforeAlter(ctx, m, leads)
		})
	}
})

// copyAgain copies half of 100 records a second time, and returns how many there are in the target then.
func copyAgain(ctx SpecContext, m *mirror) int {
	GinkgoHelper()
	m.committed(ctx, 100)
	want := m.moved(ctx, half)
	m.once(ctx, "stop and alter in one edit", connectoroffsets.Alter, want.value(), requesting("alter", sourceConnector), source(stopped))
	Expect(m.listed(ctx, stopped)).To(Equal(want))
	p := m.Phase("resume")
	m.edit(ctx, source(running))
	copied := 200 - want.copied()
	m.copied(ctx, copied, 100)
	m.settled(ctx)
	p.End()
	return copied
}

// skip skips the first 20 of 40 records that the stopped connector has not copied.
func skip(ctx SpecContext, m *mirror, copied int) {
	GinkgoHelper()
	m.carriedOut(ctx, "stop", source(stopped))
	want := m.moved(ctx, func(int) int { return 50 + 10 - 1 }) // after the 50 copied records of each partition
	m.carriedOut(ctx, "alter", requesting("alter", sourceConnector))
	m.produce(ctx, 100, 40) // only now: Connect reports a connector as stopped before its tasks end, and offsets are altered after that
	Expect(m.listed(ctx, stopped)).To(Equal(want))
	p := m.Phase("resume after the skipped records")
	m.edit(ctx, source(running))
	m.copied(ctx, copied+20, 120)
	p.End()
}

// resetAndUndo copies no record again, and then all. The source has 100 records and gets 10 more.
func resetAndUndo(ctx SpecContext, m *mirror, copied int) {
	GinkgoHelper()
	m.once(ctx, "stop and reset in one edit", connectoroffsets.Reset, "", requesting("reset", sourceConnector), source(stopped))
	Expect(m.listed(ctx, stopped).Offsets).To(BeEmpty())
	m.carriedOut(ctx, "undo the reset", requesting("alter", sourceConnector), alterFrom(keep.BeforeName(mirrorName)))
	Expect(m.listed(ctx, stopped).copied()).To(Equal(100))
	m.edit(ctx, source(running), alterFrom("source-offsets"))
	m.produce(ctx, 100, 10)
	m.copied(ctx, copied+10, 110)
	m.carriedOut(ctx, "stop and reset again", requesting("reset", sourceConnector), source(stopped))
	m.edit(ctx, source(running))
	m.copied(ctx, copied+10+110, 110)
}
