//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
)

// Images of the exporter: absentExporter cannot be pulled.
const (
	goodExporter   = "docker.io/danielqsj/kafka-exporter:v1.9.0"
	absentExporter = "docker.io/danielqsj/kafka-exporter:absent"
)

// versions are the versions in the status, and whether the Kafka is Ready.
type versions struct {
	Kafka, Operator string
	Ready           bool
}

var _ = Describe("The versions in the status", Label("kafka"), func() {
	It("are of Kafka once every node runs it, in spite of a component that fails, and of the operator at the end", SpecTimeout(25*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		s.Phase("a fresh install, with an exporter that cannot start")
		b := create(ctx, s, dual(), "4.0.2", func(spec *kafkav1beta2.KafkaSpec) {
			spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{Image: absentExporter}
		})
		b.reaches(ctx, versions{Kafka: "4.0.2"}, versions{})
		b.says(ctx, time.Minute, "ComponentsNotReady")
		s.Phase("the exporter is corrected")
		b.edit(ctx, exporter(goodExporter))
		operator := b.succeeds(ctx, versions{Kafka: "4.0.2"})

		b.upgradesFrom(ctx, versions{}, versions{Kafka: "4.0.2"}, versions{Kafka: "4.1.2"}, operator)
		earlier := versions{Kafka: "4.1.2", Operator: "0.0.1"}
		b.upgradesFrom(ctx, earlier, earlier, versions{Kafka: "4.3.1", Operator: "0.0.1"}, operator)
	})
})

// upgradesFrom upgrades a Kafka whose status an earlier operator left, with an exporter that cannot start until the versions are
// reached. Before, the status shows what runs.
func (b *brokers) upgradesFrom(ctx SpecContext, left, before, reached versions, operator string) {
	GinkgoHelper()
	p := b.Phase(fmt.Sprintf("to %s, from a status with Kafka %q and operator %q", reached.Kafka, left.Kafka, left.Operator))
	withoutManager(ctx, func() {
		GinkgoHelper()
		status := fmt.Sprintf(`{"status":{"kafkaVersion":%q,"operatorLastSuccessfulVersion":%q}}`, left.Kafka, left.Operator)
		if left == (versions{}) {
			status = `{"status":null}`
		}
		k, err := b.get(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(cluster.Client.Status().Patch(ctx, k, client.RawPatch(types.MergePatchType, []byte(status)))).To(Succeed())
		b.edit(ctx, exporter(absentExporter))
		b.edit(ctx, fmt.Sprintf(`{"spec":{"kafka":{"version":%q}}}`, reached.Kafka))
	})
	b.reaches(ctx, reached, left, before)
	Expect(p.Entered(versionChange, roll.RestartingNode)).To(HaveLen(3), "restarts before Kafka's version is in the status")
	b.says(ctx, time.Minute, "ComponentsNotReady")
	b.edit(ctx, exporter(goodExporter))
	Expect(b.succeeds(ctx, reached)).To(Equal(operator))
}

// reaches waits until the versions in the status are reached. Only some others may be seen before.
func (b *brokers) reaches(ctx SpecContext, reached versions, before ...versions) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) (versions, error) {
		now, err := b.versions(ctx)
		if err == nil && now != reached && !slices.Contains(before, now) {
			return now, StopTrying(fmt.Sprintf("%+v is shown before %+v", now, reached))
		}
		return now, err
	}).WithContext(ctx).WithTimeout(patience).WithPolling(50*time.Millisecond).Should(Equal(reached), b.said(ctx))
}

// succeeds waits until the operator has succeeded, and returns its version. Kafka's version stays what was reached.
func (b *brokers) succeeds(ctx SpecContext, reached versions) string {
	GinkgoHelper()
	var now versions
	Eventually(func(g Gomega, ctx context.Context) {
		var err error
		now, err = b.versions(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		Expect(now.Kafka).To(Equal(reached.Kafka))
		g.Expect(now.Ready).To(BeTrue())
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed(), b.said(ctx))
	Expect(now.Operator).NotTo(Or(BeEmpty(), Equal(reached.Operator)))
	return now.Operator
}

// versions of the status.
func (b *brokers) versions(ctx context.Context) (versions, error) {
	k, err := b.get(ctx)
	return versions{k.Status.KafkaVersion, k.Status.OperatorLastSuccessfulVersion, meta.IsStatusConditionTrue(k.Status.Conditions, "Ready")}, err
}

// exporter is a merge patch with an image of the exporter.
func exporter(image string) string {
	return fmt.Sprintf(`{"spec":{"kafkaExporter":{"image":%q}}}`, image)
}
