package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

var _ = Describe("a restart that a user requests", func() {
	It("restarts each node of the set once, whatever happens to the operator", func(ctx SpecContext) {
		sc, key := restingCluster(ctx, "requested", 3)
		born := func() map[string]int { return outside.born.counts(key) }
		set := &corev1beta2.StrimziPodSet{}
		requests := func() []string {
			Expect(admin.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: key.Name + "-p"}, set)).To(Succeed())
			return []string{set.Annotations[labels.RollingUpdate], set.Annotations[labels.ToRestart]}
		}
		requests()
		unedited := set.DeepCopy()
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, labels.RollingUpdate, "true")
		Expect(admin.Patch(ctx, set, client.MergeFrom(unedited))).To(Succeed())
		restarted := func() (n int) {
			for _, times := range born() {
				n += times - 1
			}
			return n
		}
		for done := range 2 {
			Eventually(restarted).WithTimeout(timeLimit).Should(BeNumerically(">", done))
			sc.kill()
			sc.start(nil)
		}
		Eventually(requests).WithTimeout(timeLimit).Should(Equal([]string{"", ""}))
		sc.rest()
		Expect(born()).To(Equal(map[string]int{"requested-p-0": 2, "requested-p-1": 2, "requested-p-2": 2}))

		pods, err := podsOf(ctx, admin, key)
		Expect(err).NotTo(HaveOccurred())
		running := pods[1].DeepCopy()
		pods[1].Annotations[labels.RollingUpdate] = "true"
		Expect(admin.Patch(ctx, pods[1], client.MergeFrom(running))).To(Succeed())
		Eventually(born).WithTimeout(timeLimit).Should(HaveKeyWithValue(running.Name, 3))
		sc.rest()
		Expect(restarted()).To(Equal(4))
	}, NodeTimeout(2*timeLimit))
})
