package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/simulator/kafka"
)

var _ = Describe("a pool that shrinks", func() {
	It("loses its broker, its registration and then its id", func(ctx SpecContext) {
		sc := newScene(ctx, clusters{}, nil)
		sc.start(nil)
		shrinks := client.ObjectKey{Namespace: sc.namespace, Name: "shrinks"}
		for _, o := range []client.Object{
			poolOf(shrinks, "both", 1, controllerRole, brokerRole), poolOf(shrinks, "more", 1, brokerRole), kafkaOf(shrinks.Namespace, shrinks.Name, old, "", 1),
		} {
			Expect(admin.Create(ctx, o)).To(Succeed())
		}
		sc.rest()
		sc.settle()
		registered := func() (there bool) {
			outside.ask(shrinks, func(c *kafka.Cluster) { _, there = c.Registration(1) })
			return there
		}
		Expect(registered()).To(BeTrue())
		pool := &kafkav1beta2.KafkaNodePool{}
		key := client.ObjectKey{Namespace: sc.namespace, Name: "more"}
		outside.ask(shrinks, func(c *kafka.Cluster) {
			for i := range c.Partitions { // one topic was spread over both brokers
				c.Partitions[i].Replicas, c.Partitions[i].InSync, c.Partitions[i].Leader = []int32{0}, 1, 0
			}
		})
		Eventually(func() error {
			if err := admin.Get(ctx, key, pool); err != nil {
				return err
			}
			pool.Spec.Replicas = 0
			return admin.Update(ctx, pool)
		}).Should(Succeed())
		Eventually(func() []int32 {
			Expect(admin.Get(ctx, key, pool)).To(Succeed())
			return pool.Status.NodeIDs
		}).WithTimeout(timeLimit).Should(BeEmpty())
		Expect(registered()).To(BeFalse())
		err := admin.Get(ctx, client.ObjectKey{Namespace: sc.namespace, Name: "shrinks-more-1"}, &corev1.Pod{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue())
		Eventually(func() string { return sc.restless(sc.object(shrinks.Name)) }).Should(BeEmpty())
	})
})
