//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

var _ = Describe("Chaos", Label("chaos"), func() {
	It("the manager brings up a broker although it dies after a few writes, again and again", SpecTimeout(15*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		for i := range 3 {
			writes := 1 + rand.N(4)
			By(fmt.Sprintf("letting the manager write %d times", writes))
			doomed := leader(ctx)
			lease := holder(ctx)
			killed, err := cluster.KillAfter(ctx, doomed, writes)
			Expect(err).NotTo(HaveOccurred())
			if i == 0 {
				Expect(cluster.ApplyFile(ctx, s.Namespace, "test/e2e/testdata/one-node.yaml")).To(Succeed())
			}
			Expect(killed()).To(Succeed())
			Eventually(holder).WithArguments(ctx).ShouldNot(Equal(lease), "who leads after the kill")
		}
		kafka := &kafkav1beta2.Kafka{}
		served(ctx, s.Namespace, kafka)
		Expect(work(ctx, s, "produce", "produce", "--bootstrap=one-kafka-bootstrap:9092", "--count=10")).To(Equal("acknowledged 10"))
		Expect(work(ctx, s, "consume", "consume", "--bootstrap=one-kafka-bootstrap:9092", "--count=10")).To(Equal("read 10, seen again 0"))
		Expect(restarts(ctx, s, "one-all-0")).To(BeZero(), "restarts of the broker")
	})
})
