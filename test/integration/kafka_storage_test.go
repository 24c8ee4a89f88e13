package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/controllers/labels"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/nodestorage"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/test/lab"
)

var _ = Describe("a lost volume", func() {
	It("holds until its formatting is approved and the other nodes hold everything", func(ctx SpecContext) {
		sc, key := restingCluster(ctx, "lost", 3)
		const pod = "lost-p-0"
		storage := func() lifecyclev1.Lifecycle {
			return entryOf(sc.object(key.Name), observation.LifecycleStorage)
		}
		format := func() string { return recordOf(ctx, key.Namespace, pod).Data[record.KeyFormat] }
		stalled := func() metav1.Condition { return conditionOf(sc.object(key.Name), lifecycle.Stalled) }
		Expect(storage().State).To(Equal(nodestorage.Intact))

		loseVolume(ctx, key.Namespace, pod)
		Eventually(storage).Should(HaveField("State", nodestorage.StorageLost))
		attempt := storage().Attempt.ID
		approval := "format-storage=" + attempt + "/" + pod
		Eventually(stalled).Should(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", nodestorage.StorageLost), HaveField("Message", And(
			ContainSubstring(pod+" (node 0) has lost its storage: nothing is left in /var/lib/kafka/"),
			ContainSubstring("kubectl annotate kafka lost -n "+key.Namespace+" --overwrite detent.dev/approve="+approval)))))
		Expect(conditionOf(sc.object(key.Name), lifecycle.Ready).Status).To(Equal(metav1.ConditionFalse))
		Expect(conditionOf(sc.object(key.Name), status.Available).Status).To(Equal(metav1.ConditionTrue))

		behind := kafka.None
		outside.ask(key, func(c *kafka.Cluster) {
			for _, id := range c.Voters {
				if id != 0 && id != c.Leader {
					behind = id
				}
			}
			c.SetVoterLag(behind, 3_600_000)
		})
		approve := func(value string) {
			sc.editNamed(key.Name, func(o lifecycle.Object) {
				o.SetAnnotations(map[string]string{labels.Approve: value})
			})
		}
		approve("format-storage=0123456789abcdef/" + pod)
		Eventually(stalled).Should(HaveField("Message", ContainSubstring("the approval is for 0123456789abcdef/"+pod)))
		approve(approval)
		Eventually(stalled).Should(HaveField("Message", ContainSubstring("metadata-elsewhere: not caught up")))
		sc.settle()
		before := len(bench.Traffic.Of(sc.namespace, lab.Request.Writes))
		Consistently(func() int { return len(bench.Traffic.Of(sc.namespace, lab.Request.Writes)) }, silentFor, silentFor/4).Should(Equal(before))
		Expect(storage().Attempt.ID).To(Equal(attempt))
		Expect(format()).To(Equal(string(record.FormatDone)))

		outside.ask(key, func(c *kafka.Cluster) { c.SetVoterLag(behind, 0) })
		Eventually(storage).Should(HaveField("State", nodestorage.Formatting))
		Eventually(storage).WithTimeout(timeLimit).Should(HaveField("State", nodestorage.Intact))
		sc.rest()
		Expect(format()).To(Equal(string(record.FormatDone)))
	}, NodeTimeout(2*timeLimit))

	It("is forgotten when the volume is back", func(ctx SpecContext) {
		sc, key := restingCluster(ctx, "back", 1)
		const pod = "back-p-0"
		storage := func() string {
			return entryOf(sc.object(key.Name), observation.LifecycleStorage).State
		}
		loseVolume(ctx, key.Namespace, pod)
		Eventually(storage).Should(Equal(nodestorage.StorageLost))
		// A user who changes the record by hand takes the risk: it is shown and waited for.
		Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			home := recordOf(ctx, key.Namespace, pod)
			home.Data[record.KeyFormat] = string(record.FormatAllowed)
			return admin.Update(ctx, home)
		})).To(Succeed())
		Eventually(storage).WithTimeout(timeLimit).Should(Equal(nodestorage.Intact))
		sc.rest()
	}, NodeTimeout(2*timeLimit))
})

var _ = Describe("storage that a user asks to replace", func() {
	It("is replaced once, when the other nodes hold everything, whatever happens to the operator", func(ctx SpecContext) {
		sc, key := restingCluster(ctx, "replaced", 3)
		const pod = "replaced-p-0"
		storage := func() lifecyclev1.Lifecycle { return entryOf(sc.object(key.Name), observation.LifecycleStorage) }
		claims := func() map[string]types.UID {
			list := &corev1.PersistentVolumeClaimList{}
			Expect(admin.List(ctx, list, client.InNamespace(key.Namespace))).To(Succeed())
			uids := map[string]types.UID{}
			for i := range list.Items {
				uids[list.Items[i].Name] = list.Items[i].UID
			}
			return uids
		}
		before := claims()
		behind := kafka.None
		outside.ask(key, func(c *kafka.Cluster) {
			for _, id := range c.Voters {
				if id != 0 && id != c.Leader {
					behind = id
				}
			}
			c.SetVoterLag(behind, 3_600_000)
		})
		running := &corev1.Pod{}
		Expect(admin.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: pod}, running)).To(Succeed())
		unedited := running.DeepCopy()
		metav1.SetMetaDataAnnotation(&running.ObjectMeta, labels.DeletePodAndPVC, "true")
		Expect(admin.Patch(ctx, running, client.MergeFrom(unedited))).To(Succeed())
		Eventually(storage).Should(HaveField("State", nodestorage.AwaitingReplacement))
		Eventually(func() string { return fmt.Sprint(storage().WaitingFor) }).Should(And(ContainSubstring(pod), ContainSubstring(fmt.Sprint("behind: ", behind))))
		sc.settle()
		Expect(claims()).To(Equal(before))
		Expect(recordOf(ctx, key.Namespace, pod).Data).To(HaveKeyWithValue(record.KeyReplaced, ""))

		outside.ask(key, func(c *kafka.Cluster) { c.SetVoterLag(behind, 0) })
		for _, next := range []string{nodestorage.ReplacingStorage, nodestorage.Formatting} {
			Eventually(storage).WithTimeout(timeLimit).Should(HaveField("State", next))
			sc.kill()
			sc.start(nil)
		}
		Eventually(storage).WithTimeout(timeLimit).Should(HaveField("State", nodestorage.Intact))
		sc.rest()
		after := claims()
		Expect(after).To(HaveLen(3))
		Expect(after).To(HaveKeyWithValue("data-0-"+pod, Not(Equal(before["data-0-"+pod]))))
		delete(before, "data-0-"+pod)
		for name, uid := range before {
			Expect(after).To(HaveKeyWithValue(name, uid))
		}
		Expect(outside.born.counts(key)).To(Equal(map[string]int{pod: 2, "replaced-p-1": 1, "replaced-p-2": 1}))
		Expect(recordOf(ctx, key.Namespace, pod).Data).To(And(HaveKeyWithValue(record.KeyReplaced, ""), HaveKeyWithValue(record.KeyFormat, string(record.FormatDone))))
	}, NodeTimeout(2*timeLimit))
})

func recordOf(ctx SpecContext, namespace, pod string) *corev1.ConfigMap {
	GinkgoHelper()
	home := &corev1.ConfigMap{}
	Expect(admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: record.Name(pod)}, home)).To(Succeed())
	return home
}

// loseVolume of a node: its claim goes with what lay on the volume, and its pod is replaced.
func loseVolume(ctx SpecContext, namespace, pod string) {
	GinkgoHelper()
	claim := &corev1.PersistentVolumeClaim{}
	name := client.ObjectKey{Namespace: namespace, Name: "data-0-" + pod}
	Expect(admin.Get(ctx, name, claim)).To(Succeed())
	uid := claim.UID
	Expect(admin.Delete(ctx, claim)).To(Succeed())
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := admin.Get(ctx, name, claim); err != nil || claim.UID != uid {
			return client.IgnoreNotFound(err)
		}
		claim.Finalizers = nil
		return client.IgnoreNotFound(admin.Update(ctx, claim))
	})).To(Succeed())
	Expect(client.IgnoreNotFound(admin.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod}}, client.GracePeriodSeconds(0)))).To(Succeed())
}
