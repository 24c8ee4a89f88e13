//go:build e2e

package e2e

import (
	"context"
	"math/rand/v2"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/test/e2e/stage"
)

// helloNamespace is where its manifests put it.
const helloNamespace = "detent-hello"

var _ = Describe("Smoke", Label("smoke"), func() {
	It("hello greets, and again after a SIGKILL", SpecTimeout(5*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		greeting := &api.Greeting{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "world"}, Spec: api.GreetingSpec{Text: "hello"}}
		Expect(cluster.Client.Create(ctx, greeting)).To(Succeed())
		greeted(ctx, greeting, "hello")

		killed := leaderIn(ctx, helloNamespace)
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"text":"hello again"}}`))
		Expect(cluster.Client.Patch(ctx, greeting, patch)).To(Succeed())
		Expect(cluster.Kill(ctx, killed)).To(Succeed())
		greeted(ctx, greeting, "hello again")
		deployed(ctx, helloNamespace, "hello")
	})

	It("the manager brings a Kafka of one node to a broker that serves, through a SIGKILL, and upgrades it", SpecTimeout(12*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		Expect(cluster.ApplyFile(ctx, s.Namespace, "test/e2e/testdata/one-node.yaml")).To(Succeed())
		moment := rand.N(12 * time.Second)
		By("killing the manager " + moment.String() + " after the cluster was asked for")
		Eventually(ctx, time.After(moment)).WithTimeout(moment + time.Minute).Should(Receive())
		killed := leader(ctx)
		Expect(cluster.Kill(ctx, killed)).To(Succeed())

		kafka := &kafkav1beta2.Kafka{}
		served(ctx, s.Namespace, kafka)
		Expect(kafka.Status.KafkaVersion).To(Equal("4.0.2"))
		Expect(kafka.Status.KafkaMetadataVersion).To(Equal("4.0-IV3"))
		Expect(work(ctx, s, "produce", "produce", "--bootstrap=one-kafka-bootstrap:9092", "--count=100")).To(Equal("acknowledged 100"))

		pod := &corev1.Pod{}
		Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: "one-all-0"}, pod)).To(Succeed())
		Expect(work(ctx, s, "racks", "racks", "--bootstrap=one-kafka-bootstrap:9092")).To(Equal("0=" + pod.Spec.NodeName))

		By("changing a configuration that Kafka takes without a restart")
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"kafka":{"config":{"compression.type":"zstd"}}}}`))
		Expect(cluster.Client.Patch(ctx, kafka, patch)).To(Succeed())
		Eventually(func(ctx context.Context) error {
			return cluster.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: "one-dynamic-configuration"}, &corev1.ConfigMap{})
		}).WithContext(ctx).Should(Succeed())
		served(ctx, s.Namespace, kafka)
		Expect(work(ctx, s, "setting", "setting", "--bootstrap=one-kafka-bootstrap:9092", "--name=compression.type")).To(Equal("0=zstd DYNAMIC_DEFAULT_BROKER_CONFIG"))

		By("killing the manager at rest")
		Expect(cluster.Kill(ctx, leader(ctx))).To(Succeed())
		leader(ctx)
		served(ctx, s.Namespace, kafka)
		Expect(work(ctx, s, "consume", "consume", "--bootstrap=one-kafka-bootstrap:9092", "--count=100")).To(Equal("read 100, seen again 0"))

		same := &corev1.Pod{}
		Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(pod), same)).To(Succeed())
		Expect(same.UID).To(Equal(pod.UID), "the pod of the broker")
		Expect(restarts(ctx, s, "one-all-0")).To(BeZero(), "restarts of the broker")

		upgraded(ctx, s, kafka, same)
	})
})

// upgraded changes the version of the Kafka: its broker restarts once, the metadata level is raised, and the configuration that was
// changed and the records are kept.
func upgraded(ctx SpecContext, s *stage.Scenario, kafka *kafkav1beta2.Kafka, before *corev1.Pod) {
	GinkgoHelper()
	p := s.Phase("to 4.1.2")
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"kafka":{"version":"4.1.2"}}}`))
	Expect(cluster.Client.Patch(ctx, kafka, patch)).To(Succeed())
	served(ctx, s.Namespace, kafka)
	p.End()
	Expect(kafka.Status.KafkaVersion).To(Equal("4.1.2"))
	Expect(kafka.Status.KafkaMetadataVersion).To(Equal("4.1-IV1"))
	Expect(p.Starts()).To(Equal(map[string]int{before.Name: 1}), "starts of the broker")
	after := &corev1.Pod{}
	Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(before), after)).To(Succeed())
	Expect(after.Spec.Containers[0].Image).To(Equal("apache/kafka:4.1.2"))
	// The broker was started with the value, so that the source of all brokers is deleted: at once or a moment later.
	Expect(work(ctx, s, "setting-after", "setting", "--bootstrap=one-kafka-bootstrap:9092", "--name=compression.type")).To(HavePrefix("0=zstd "))
	Expect(work(ctx, s, "consume-after", "consume", "--bootstrap=one-kafka-bootstrap:9092", "--count=100")).To(Equal("read 100, seen again 0"))
}

// greeted waits until the text was spoken and its status says so.
func greeted(ctx SpecContext, greeting *api.Greeting, want string) {
	GinkgoHelper()
	key := client.ObjectKeyFromObject(greeting)
	Eventually(func(g Gomega, ctx context.Context) {
		g.Expect(cluster.Client.Get(ctx, key, greeting)).To(Succeed())
		holds(g, greeting, greeting.Status.Conditions, "Ready")
		said := &corev1.ConfigMap{}
		g.Expect(cluster.Client.Get(ctx, key, said)).To(Succeed())
		g.Expect(said.Data).To(ContainElement(want))
	}).WithContext(ctx).Should(Succeed())
}

// served waits until the Kafka is ready, on the version of its spec.
func served(ctx SpecContext, namespace string, kafka *kafkav1beta2.Kafka) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		g.Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "one"}, kafka)).To(Succeed())
		holds(g, kafka, kafka.Status.Conditions, "Ready")
		holds(g, kafka, kafka.Status.Conditions, "VersionSettled")
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
}

// restarts of a pod's first container.
func restarts(ctx SpecContext, s *stage.Scenario, name string) int32 {
	GinkgoHelper()
	pod := &corev1.Pod{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, pod)).To(Succeed())
	return pod.Status.ContainerStatuses[0].RestartCount
}
