package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

var _ = Describe("a pool that grows", func() {
	It("gets a node on the lowest free id", func(ctx SpecContext) {
		sc := newScene(ctx, clusters{}, nil)
		sc.start(nil)
		grows := client.ObjectKey{Namespace: sc.namespace, Name: "grows"}
		for _, o := range []client.Object{
			poolOf(grows, "both", 1, controllerRole, brokerRole), poolOf(grows, "more", 1, brokerRole), kafkaOf(grows.Namespace, grows.Name, old, "", 1),
		} {
			Expect(admin.Create(ctx, o)).To(Succeed())
		}
		sc.rest()
		sc.settle()
		pool := &kafkav1beta2.KafkaNodePool{}
		key := client.ObjectKey{Namespace: sc.namespace, Name: "more"}
		Eventually(func() error {
			if err := admin.Get(ctx, key, pool); err != nil {
				return err
			}
			pool.Spec.Replicas = 2
			return admin.Update(ctx, pool)
		}).Should(Succeed())
		Eventually(func() []int32 {
			Expect(admin.Get(ctx, key, pool)).To(Succeed())
			return pool.Status.NodeIDs
		}).Should(Equal([]int32{1, 2}))
		Eventually(func() []string { return outside.born.of(grows) }).Should(ContainElement(ContainSubstring("grows-more-2")))
		Eventually(func() string { return sc.restless(sc.object(grows.Name)) }).Should(BeEmpty())
	})
})
