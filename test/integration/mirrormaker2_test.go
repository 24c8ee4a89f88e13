package integration

import (
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	connectclient "github.com/detent-dev/detent/clients/connect"
	connectrest "github.com/detent-dev/detent/clients/connect/rest"
	"github.com/detent-dev/detent/config"
	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	kafkaobservation "github.com/detent-dev/detent/controllers/kafka/observation"
	mirrormaker2controller "github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
	kafkamanager "github.com/detent-dev/detent/kinds/kafka/manager"
	mirrormaker2manager "github.com/detent-dev/detent/kinds/mirrormaker2/manager"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/connect"
	"github.com/detent-dev/detent/simulator/connect/wire"
)

const mirrored = `
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
metadata: {name: my-mm2}
spec:
  version: 4.1.2
  replicas: 1
  connectCluster: west-kafka
  clusters:
  - {alias: east-kafka, bootstrapServers: "east:9092"}
  - alias: west-kafka
    bootstrapServers: "west:9092"
    config: {offset.flush.interval.ms: 1000, offset.flush.timeout.ms: 1000, task.shutdown.graceful.timeout.ms: 1000}
  mirrors:
  - sourceCluster: east-kafka
    targetCluster: west-kafka
    topicsPattern: orders
    sourceConnector:
      listOffsets: {toConfigMap: {name: my-connector-offsets}}
      alterOffsets: {fromConfigMap: {name: my-connector-offsets}}
    checkpointConnector: {}
`

const (
	mirrorSource     = "east-kafka->west-kafka.MirrorSourceConnector"
	mirrorCheckpoint = "east-kafka->west-kafka.MirrorCheckpointConnector"
)

// workers are simulated Connect workers on loopback, whose time goes on by itself.
func workers() *wire.Server {
	GinkgoHelper()
	cluster := connect.New(connect.DefaultSettings(), 1, false)
	cluster.CreateTopic("orders", 1)
	server, err := wire.NewServer(cluster)
	Expect(err).NotTo(HaveOccurred())
	ending, ended := make(chan struct{}), sync.WaitGroup{}
	ended.Go(func() {
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ending:
				return
			case <-ticker.C:
				_ = server.Do(func(c *connect.Cluster) { c.Tick(c.Now + 500) }) // a worker that cannot listen fails the spec
			}
		}
	})
	DeferCleanup(func() {
		close(ending)
		ended.Wait()
		server.Close()
	})
	return server
}

// overWire returns the clients of simulated workers.
func overWire(server *wire.Server) func(connection.Endpoint) (*connection.Workers, func(), error) {
	return func(connection.Endpoint) (*connection.Workers, func(), error) {
		one, err := connectrest.New(connectrest.Options{Address: server.Addr(0)})
		if err != nil {
			return nil, nil, err
		}
		return &connection.Workers{Service: one, Worker: func(string) (connectclient.Reader, func(), error) { return one, func() {}, nil }}, one.Close, nil
	}
}

var _ = Describe("a KafkaMirrorMaker2", func() {
	It("lists, alters and resets the offsets of its connectors as seed 001 says", func(ctx SpecContext) {
		sc := newScene(ctx, clusters{}, nil)
		credentials := installed(ctx, sc.namespace, config.Access([]resource.Kind{kafkacontroller.Resource(), mirrormaker2controller.Resource()}, sc.namespace))
		server := workers()
		manage(operator.Options{
			Config: credentials, Version: operatorVersion, Kinds: []operator.Kind{
				kafkamanager.New(kafkamanager.Options{Table: outside.table, Finalizing: kafkaobservation.FinalizeAutomatically}),
				mirrormaker2manager.New(mirrormaker2manager.Options{Table: outside.table, Connect: overWire(server)}),
			},
			Namespaces: []string{sc.namespace}, DeadlineScale: 1, Workers: 4,
		})
		m := mirroredIn(ctx, sc.namespace)
		read := func(g Gomega) *kafkav1beta2.KafkaMirrorMaker2 { return m.read(ctx, g) }
		edit := func(change func(m *kafkav1beta2.KafkaMirrorMaker2)) {
			GinkgoHelper()
			m.edit(ctx, change)
		}
		annotate := func(operation, connector string) func(m *kafkav1beta2.KafkaMirrorMaker2) {
			return func(m *kafkav1beta2.KafkaMirrorMaker2) {
				m.Annotations = map[string]string{"strimzi.io/connector-offsets": operation, "strimzi.io/mirrormaker-connector": connector}
			}
		}
		settled := func(g Gomega) {
			now := read(g)
			g.Expect(now.Annotations).NotTo(HaveKey("strimzi.io/connector-offsets"), "%+v", now.Status)
			g.Expect(now.Status.ObservedGeneration).To(Equal(now.Generation), "%+v", now.Status)
			g.Expect(meta.IsStatusConditionTrue(now.Status.Conditions, lifecycle.Ready)).To(BeTrue(), "%+v", now.Status)
		}
		offsets := func() (document string) {
			GinkgoHelper()
			one, err := connectrest.New(connectrest.Options{Address: server.Addr(0)})
			Expect(err).NotTo(HaveOccurred())
			defer one.Close()
			document, err = one.Offsets(ctx, mirrorSource)
			Expect(err).NotTo(HaveOccurred())
			return document
		}
		warning := func(reason, message string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				now := read(g)
				g.Expect(now.Status.Conditions).To(ContainElement(And(
					HaveField("Type", "Warning"), HaveField("Status", metav1.ConditionTrue), HaveField("Reason", reason), HaveField("Message", ContainSubstring(message)),
				)))
				g.Expect(now.Annotations).To(HaveKey("strimzi.io/connector-offsets"))
			}).Should(Succeed())
		}
		Eventually(settled).Should(Succeed())
		Expect(admin.Get(ctx, client.ObjectKey{Namespace: sc.namespace, Name: "my-mm2-mirrormaker2"}, &networkingv1.NetworkPolicy{})).To(Succeed())
		Expect(server.Do(func(c *connect.Cluster) { c.Produce("orders", 100) })).To(Succeed())
		Eventually(offsets).Should(ContainSubstring(`"offset":99`))

		By("listing them into a ConfigMap that does not exist")
		edit(annotate("list", mirrorSource))
		Eventually(settled).Should(Succeed())
		stored := &corev1.ConfigMap{}
		Expect(admin.Get(ctx, client.ObjectKey{Namespace: sc.namespace, Name: "my-connector-offsets"}, stored)).To(Succeed())
		document := func(offset string) string {
			return "{\n  \"offsets\": [\n    {\n      \"partition\": {\n        \"cluster\": \"east-kafka\",\n        \"partition\": 0,\n        \"topic\": \"orders\"\n      },\n" +
				"      \"offset\": {\n        \"offset\": " + offset + "\n      }\n    }\n  ]\n}\n"
		}
		const entry = "east-kafka--west-kafka.MirrorSourceConnector.json"
		Expect(stored.Data).To(Equal(map[string]string{entry: document("99")}))
		Expect(stored.OwnerReferences).To(Equal([]metav1.OwnerReference{{
			APIVersion: "kafka.strimzi.io/v1beta2", Kind: "KafkaMirrorMaker2", Name: "my-mm2", UID: read(Default).UID, Controller: new(false), BlockOwnerDeletion: new(false),
		}}))

		By("refusing to alter the offsets of a connector that is not stopped")
		stored.Data[entry], stored.Data["mine"], stored.OwnerReferences = document("9"), "kept", nil
		Expect(admin.Update(ctx, stored)).To(Succeed())
		edit(annotate("alter", mirrorSource))
		warning("AlterOffsets", "Failed to alter the connector offsets for "+mirrorSource+" due to the connector not being stopped")

		By("stopping it and altering them")
		edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
			m.Spec.Mirrors[0].SourceConnector.State = kafkav1beta2.ConnectorStopped
		})
		Eventually(settled).Should(Succeed())
		Expect(offsets()).To(ContainSubstring(`"offset":9}`))

		By("listing them into a ConfigMap that exists")
		edit(annotate("list", mirrorSource))
		Eventually(settled).Should(Succeed())
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(stored.Data).To(Equal(map[string]string{entry: document("9"), "mine": "kept"}))
		Expect(stored.OwnerReferences).To(BeEmpty())

		By("quoting Connect's refusal")
		stored.Data[entry] = `{"offsets":[]}`
		Expect(admin.Update(ctx, stored)).To(Succeed())
		edit(annotate("alter", mirrorSource))
		warning("AlterOffsets", "Partitions / offsets need to be provided for an alter offsets request")
		edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations = nil })
		Eventually(settled).Should(Succeed())

		By("resetting them")
		edit(annotate("reset", mirrorSource))
		Eventually(settled).Should(Succeed())
		Expect(offsets()).To(Equal(`{"offsets":[]}`))

		By("replaying all records")
		edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].SourceConnector.State = "" })
		Eventually(settled).Should(Succeed())
		Eventually(func() (n int64) {
			Expect(server.Do(func(c *connect.Cluster) { n = c.Mirrored(mirrorSource) })).To(Succeed())
			return n
		}).Should(Equal(int64(200)))

		By("naming a property that is missing")
		edit(annotate("list", mirrorCheckpoint))
		warning("ListOffsets", "Failed to list the connector offsets for "+mirrorCheckpoint+" due to missing property listOffsets in KafkaMirrorMaker2 CR.")
	}, SpecTimeout(timeLimit))
})
