package integration

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	lifecycle "github.com/detent-dev/detent/runtime"
)

var _ = Describe("a node that is not ready and serves", func() {
	It("is not restarted while another node is down: a voter whose probe fails", func(ctx SpecContext) {
		sc, key := restingCluster(ctx, "lapses", 3)
		pod := func(id int) types.NamespacedName {
			return types.NamespacedName{Namespace: key.Namespace, Name: fmt.Sprintf("%s-p-%d", key.Name, id)}
		}
		ready := func(id int) func() bool {
			return func() bool {
				seen := &corev1.Pod{}
				return admin.Get(ctx, pod(id), seen) == nil && isReady(seen)
			}
		}
		DeferCleanup(func() {
			outside.script.crash(pod(2), false)
			outside.script.neverReady(pod(1), false)
		})
		for id := range 3 {
			outside.Age(pod(id), time.Hour) // a process that has just started counts as starting up
		}
		outside.script.crash(pod(2), true)
		outside.script.neverReady(pod(1), true)
		Eventually(ready(2)).Should(BeFalse())
		Eventually(ready(1)).Should(BeFalse())

		sc.editNamed(key.Name, func(o lifecycle.Object) { kafkaIn(o).Spec.Kafka.Config["queued.max.requests"] = value(24) })
		Eventually(func() map[string]int { return outside.born.counts(key) }).Should(HaveKeyWithValue(pod(2).Name, 2), "the node that is down goes first")
		Consistently(func() map[string]int { return outside.born.counts(key) }, "5s").Should(And(
			HaveKeyWithValue(pod(1).Name, 1), HaveKeyWithValue(pod(0).Name, 1)), "Kafka needs the two others")

		outside.script.crash(pod(2), false)
		outside.script.neverReady(pod(1), false)
		sc.rest()
		Expect(outside.born.counts(key)).To(Equal(map[string]int{pod(0).Name: 2, pod(1).Name: 2, pod(2).Name: 2}))
	})
})
