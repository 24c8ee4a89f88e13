//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/test/e2e/stage"
)

// snapshotInterval is the longest time between two snapshots of the metadata log where a scenario waits for them.
const snapshotInterval = 90 * time.Second

// snapshotsEvery sets how often a controller takes a snapshot of the metadata log.
func snapshotsEvery(interval time.Duration) func(*kafkav1beta2.KafkaSpec) {
	return func(spec *kafkav1beta2.KafkaSpec) {
		spec.Kafka.Config["metadata.log.max.snapshot.interval.ms"] = apiextensionsv1.JSON{Raw: fmt.Append(nil, interval.Milliseconds())}
	}
}

var _ = Describe("Downgrade", Label("kafka"), func() {
	It("below the finalized metadata level is refused, also after a pause and without its status", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.3.1", nil)
		b.stream(ctx)
		p := b.change(ctx, "4.1.2", "")
		b.staysRefused(ctx)
		Expect(p.Starts()).To(BeEmpty(), "nodes restarted")

		s.Phase("a node is lost while the change is refused")
		b.lose(ctx, "events-all-1", "4.3.1")
		b.refused(ctx)
		back := b.change(ctx, "4.3.1", "")
		b.settled(ctx, "4.3.1")
		back.End()
		Expect(back.Starts()).To(BeEmpty(), "nodes restarted")
		b.finish(ctx)
	})

	It("waits for the snapshots of the controllers after the metadata level was lowered", SpecTimeout(25*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.0.2", snapshotsEvery(snapshotInterval))
		b.stream(ctx)
		b.change(ctx, "4.1.2", "")
		Expect(b.settled(ctx, "4.1.2").Status.KafkaMetadataVersion).To(Equal("4.1-IV1"))
		b.change(ctx, "4.1.2", "4.0")
		Expect(b.settled(ctx, "4.1.2").Status.KafkaMetadataVersion).To(Equal("4.0-IV3"))
		p := b.change(ctx, "4.0.2", "4.0")
		k := b.awaiting(ctx, versionChange, kafkaversion.AwaitingSnapshot, 2*time.Minute, "snapshot", "4.1-IV1", "expected at ")
		Expect(p.Starts()).To(BeEmpty(), "nodes restarted before the snapshots")
		b.noteWaits(ctx, "after the level was lowered")
		b.settled(ctx, "4.0.2")
		until := expectedAt(k)
		Expect(p.FirstStart()).To(And(BeTemporally(">=", until), BeTemporally("<", until.Add(time.Minute))), "when the first node was restarted; the status said %s", until)
		b.rolled(ctx, p)
		b.finish(ctx)
	})

	It("after the level was raised and lowered by hand stops at the first node, is reverted, and works after the snapshots", SpecTimeout(25*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.0.2", snapshotsEvery(2*snapshotInterval))
		b.stream(ctx)
		b.change(ctx, "4.1.2", "4.0")
		b.settled(ctx, "4.1.2")
		By("letting every controller take a snapshot, so that the next ones are far")
		b.snapshots(ctx)
		var p *stage.Phase
		withoutManager(ctx, func() {
			GinkgoHelper()
			for _, to := range []string{"upgrade 27", "downgrade 25"} {
				verb, level, _ := strings.Cut(to, " ")
				b.kafkaTool(ctx, "org.apache.kafka.tools.FeatureCommand", verb, "--feature", "metadata.version="+level)
			}
			p = b.change(ctx, "4.0.2", "4.0")
		})
		b.awaiting(ctx, versionChange, roll.AwaitingReady, patience, "feature level 27")
		b.noteWaits(ctx, "the first node, on a log that holds the level")
		first, _ := p.Order()
		Expect(first).To(HaveEach(first[0]), "nodes restarted")

		By("reverting")
		back := b.change(ctx, "4.1.2", "4.0")
		b.settled(ctx, "4.1.2")
		back.End()
		Expect(back.Starts()).To(And(HaveLen(1), HaveKey(first[0])), "nodes that go back")

		By("waiting for the next snapshots")
		b.snapshots(ctx)
		again := b.change(ctx, "4.0.2", "4.0")
		b.settled(ctx, "4.0.2")
		b.rolled(ctx, again)
		b.finish(ctx)
	})

	It("that nothing speaks against starts at once", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.1.2", nil)
		b.stream(ctx)
		b.change(ctx, "4.3.1", "4.1") // it takes longer than the minute for which a new manager waits
		b.settled(ctx, "4.3.1")
		p := b.change(ctx, "4.1.2", "")
		b.settled(ctx, "4.1.2")
		steps := p.Steps(versionChange)
		selected := slices.IndexFunc(steps, func(step stage.Step) bool { return step.To == roll.SelectingNode })
		Expect(selected).To(BeNumerically(">=", 0), "when the roll began")
		waited := steps[selected].Seen.Sub(p.Begun())
		s.Note("the roll began %.1f s after the edit", waited.Seconds())
		Expect(waited).To(BeNumerically("<", 5*time.Second))
		b.noteFirstStart(p, "edit")
		b.noteReady(p, "edit")
		b.rolled(ctx, p)
		b.finish(ctx)
	})

	It("from a version that the operator does not know works in one step while its metadata level is not raised", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.1.2", nil)
		b.stream(ctx)
		b.change(ctx, "4.3.1", "4.1")
		b.settled(ctx, "4.3.1")
		managerKnowing(ctx, "4.1.2")
		p := b.change(ctx, "4.1.2", "")
		b.settled(ctx, "4.1.2")
		b.noteFirstStart(p, "edit")
		b.noteReady(p, "edit")
		b.rolled(ctx, p)
		b.finish(ctx)
	})

	It("from a version that the operator does not know is refused once its metadata level is raised", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.1.2", nil)
		b.stream(ctx)
		b.change(ctx, "4.3.1", "")
		Expect(b.settled(ctx, "4.3.1").Status.KafkaMetadataVersion).To(Equal("4.3-IV0"))
		managerKnowing(ctx, "4.1.2")
		p := b.change(ctx, "4.1.2", "")
		b.staysRefused(ctx)
		p.End()
		Expect(p.Starts()).To(BeEmpty(), "nodes restarted")
		b.finish(ctx)
	})
})

// expectedAt returns the end of the wait for snapshots, as the version change shows it.
func expectedAt(k *kafkav1beta2.Kafka) time.Time {
	GinkgoHelper()
	for _, w := range lifecycle(k, versionChange).WaitingFor {
		if _, text, ok := strings.Cut(w.Observed, "; expected at "); ok {
			at, _, _ := strings.Cut(text, ";")
			until, err := time.Parse(time.RFC3339, at)
			Expect(err).NotTo(HaveOccurred(), w.Observed)
			return until
		}
	}
	Fail("the version change does not say when the snapshots are expected")
	return time.Time{}
}

// refused waits until a downgrade to 4.1.2 is refused because of the metadata level of 4.3.1.
func (b *brokers) refused(ctx SpecContext) {
	GinkgoHelper()
	b.awaiting(ctx, versionChange, kafkaversion.Refusing, 2*time.Minute, "metadata.version is finalized at 4.3-IV0", "4.1-IV1", "docs/downgrade.md")
}

// staysRefused waits until a downgrade is refused, and again after a pause, and without the status.
func (b *brokers) staysRefused(ctx SpecContext) {
	GinkgoHelper()
	b.refused(ctx)
	By("pausing and resuming")
	b.edit(ctx, `{"metadata":{"annotations":{"strimzi.io/pause-reconciliation":"true"}}}`)
	b.says(ctx, time.Minute, "Paused=True")
	b.edit(ctx, `{"metadata":{"annotations":{"strimzi.io/pause-reconciliation":null}}}`)
	b.silent(ctx, time.Minute, "Paused=True")
	b.refused(ctx)
	By("deleting the status")
	b.wipe(ctx)
	b.refused(ctx)
}
