//go:build e2e

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/detent-dev/detent/controllers/mirrormaker2/keep"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	"github.com/detent-dev/detent/machines/connectoroffsets"
)

// Documents of the connectors that store no position: one that Connect did not have, and one that forgets what it had.
const (
	checkpointOffsets = `{"offsets":[{"partition":{"group":"readers","topic":"numbers","partition":0},"offset":{"offset":0}}]}`
	noHeartbeat       = `{"offsets":[{"partition":{"sourceClusterAlias":"east","targetClusterAlias":"west"},"offset":null}]}`
	noOffsets         = `{"offsets":[]}`
)

// connectors with the ConfigMaps of their offsets.
var connectors = map[string]string{sourceConnector: "source-offsets", checkpointConnector: "checkpoint-offsets", heartbeatConnector: "heartbeat-offsets"}

// listEvery lists the offsets of all connectors. Those of the source connector are before 110 records.
func listEvery(ctx SpecContext, m *mirror) {
	GinkgoHelper()
	listed := func() int {
		m.carriedOut(ctx, "list all connectors", requesting("list", request.All))
		return parse(m.entry(ctx, "source-offsets", sourceConnector)).copied()
	}
	Eventually(listed).WithContext(ctx).WithTimeout(patience).Should(Equal(110), "the offsets are committed after the records are copied")
	for connector, name := range connectors {
		Expect(m.entry(ctx, name, connector)).To(ContainSubstring(`"offsets"`), connector)
	}
}

// alterEvery stops all connectors and alters the offsets of each in one edit. It returns those of the source connector.
func alterEvery(ctx SpecContext, m *mirror) document {
	GinkgoHelper()
	heartbeat := func() string {
		m.carriedOut(ctx, "list all connectors", requesting("list", request.All))
		return m.entry(ctx, "heartbeat-offsets", heartbeatConnector)
	}
	Eventually(heartbeat).WithContext(ctx).WithTimeout(patience).Should(ContainSubstring("targetClusterAlias"), "the heartbeat connector has offsets")
	m.committed(ctx, 100)
	want := m.moved(ctx, half)
	m.write(ctx, "checkpoint-offsets", checkpointConnector, checkpointOffsets)
	m.write(ctx, "heartbeat-offsets", heartbeatConnector, noHeartbeat)
	m.carriedOut(ctx, "stop and alter all connectors in one edit", requesting("alter", request.All), all(stopped))
	m.doneOnce(ctx, connectoroffsets.Alter)
	m.carriedOut(ctx, "list all connectors", requesting("list", request.All))
	Expect(parse(m.entry(ctx, "source-offsets", sourceConnector))).To(Equal(want))
	Expect(m.entry(ctx, "checkpoint-offsets", checkpointConnector)).To(MatchJSON(checkpointOffsets))
	Expect(m.entry(ctx, "heartbeat-offsets", heartbeatConnector)).To(MatchJSON(noOffsets))
	return want
}

// resetEvery resets all connectors, which are stopped, and runs them. All records are copied again, and what each connector had is kept.
func resetEvery(ctx SpecContext, m *mirror, had document) {
	GinkgoHelper()
	m.carriedOut(ctx, "reset all connectors", requesting("reset", request.All))
	m.doneOnce(ctx, connectoroffsets.Reset)
	m.carriedOut(ctx, "list all connectors", requesting("list", request.All))
	for connector, name := range connectors {
		Expect(m.entry(ctx, name, connector)).To(MatchJSON(noOffsets), connector)
	}
	kept := keep.BeforeName(mirrorName)
	Expect(parse(m.entry(ctx, kept, sourceConnector))).To(Equal(had))
	Expect(m.entry(ctx, kept, checkpointConnector)).To(MatchJSON(checkpointOffsets))
	Expect(m.entry(ctx, kept, heartbeatConnector)).To(MatchJSON(noOffsets))
	p := m.Phase("resume")
	m.edit(ctx, all(running))
	m.copied(ctx, 200, 100)
	m.settled(ctx)
	p.End()
}

// doneOnce expects that each connector has done an operation, which was sent once.
func (m *mirror) doneOnce(ctx SpecContext, operation connectoroffsets.Operation) {
	GinkgoHelper()
	for connector := range connectors {
		r := m.recordOf(ctx, connector)
		Expect([]any{r.Operation, r.Phase, r.Sends}).To(Equal([]any{operation, connectoroffsets.Done, 1}), connector)
	}
}
