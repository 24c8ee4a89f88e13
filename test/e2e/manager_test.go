//go:build e2e

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/config"
	"github.com/detent-dev/detent/internal/operator"
)

var _ = Describe("The manager", Label("kafka"), func() {
	It("leads again within five seconds when its container is killed, and no other replica leads meanwhile", SpecTimeout(5*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		pod := leader(ctx)
		before := lease(ctx)
		Expect(cluster.Kill(ctx, pod)).To(Succeed())
		killed := time.Now()
		var after *coordinationv1.Lease
		Eventually(func() time.Time {
			after = lease(ctx)
			return after.Spec.RenewTime.Time
		}).WithContext(ctx).WithPolling(50 * time.Millisecond).Should(BeTemporally(">", killed))
		took := time.Since(killed)
		s.Note("the lease was renewed %.1f s after the SIGKILL, by the next container of the same pod", took.Seconds())
		Expect(after.Spec.HolderIdentity).To(Equal(before.Spec.HolderIdentity), "holder of the lease")
		Expect(after.Spec.LeaseTransitions).To(Equal(before.Spec.LeaseTransitions), "changes of the holder")
		Expect(took).To(BeNumerically("<=", 5*time.Second))
		leader(ctx)
	})
})

// lease of the manager.
func lease(ctx SpecContext) *coordinationv1.Lease {
	GinkgoHelper()
	l := &coordinationv1.Lease{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: config.Namespace, Name: operator.DefaultLeaseName}, l)).To(Succeed())
	return l
}
