package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
)

var _ = Describe("annotations of pods that a user edits", func() {
	It("are put back and restart nothing", func(ctx SpecContext) {
		sc, key := restingCluster(ctx, "annotated", 3)
		annotations := func() (out []map[string]string, uids []types.UID) {
			pods, err := podsOf(ctx, admin, key)
			Expect(err).NotTo(HaveOccurred())
			for _, pod := range pods {
				out = append(out, map[string]string{
					labels.KafkaVersion: pod.Annotations[labels.KafkaVersion], labels.Revision: pod.Annotations[labels.Revision],
				})
				uids = append(uids, pod.UID)
			}
			return out, uids
		}
		before, uids := annotations()
		edits := []func(*corev1.Pod){
			func(pod *corev1.Pod) { pod.Annotations[labels.KafkaVersion] = newer },
			func(pod *corev1.Pod) {
				pod.Annotations[labels.KafkaVersion], pod.Annotations[labels.Revision] = "latest", "deadbeef"
			},
			func(pod *corev1.Pod) { delete(pod.Annotations, labels.KafkaVersion) },
		}
		pods, err := podsOf(ctx, admin, key)
		Expect(err).NotTo(HaveOccurred())
		for i, edit := range edits {
			unedited := pods[i].DeepCopy()
			edit(pods[i])
			Expect(admin.Patch(ctx, pods[i], client.MergeFrom(unedited))).To(Succeed())
		}
		Eventually(func() []map[string]string { now, _ := annotations(); return now }).Should(Equal(before))
		sc.rest()
		_, after := annotations()
		Expect(after).To(Equal(uids))
		Expect(kafkaIn(sc.object(key.Name)).Status.KafkaVersion).To(Equal(old))
	}, NodeTimeout(timeLimit))
})
