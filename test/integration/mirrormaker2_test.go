package integration

import (
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	connectclient "github.com/detent-dev/detent/clients/connect"
	connectrest "github.com/detent-dev/detent/clients/connect/rest"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
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
	mirrorHeartbeat  = "east-kafka->west-kafka.MirrorHeartbeatConnector"
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
	document := func(offset string) string {
		return "{\n  \"offsets\": [\n    {\n      \"partition\": {\n        \"cluster\": \"east-kafka\",\n        \"partition\": 0,\n        \"topic\": \"orders\"\n      },\n" +
			"      \"offset\": {\n        \"offset\": " + offset + "\n      }\n    }\n  ]\n}\n"
	}
	source := func(state kafkav1beta2.ConnectorState) func(m *kafkav1beta2.KafkaMirrorMaker2) {
		return func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].SourceConnector.State = state }
	}

	It("lists, alters and resets the offsets of a connector", func(ctx SpecContext) {
		m := mirroringIn(ctx, newScene(ctx, clusters{}, nil).namespace)
		m.settles(ctx)
		Expect(admin.Get(ctx, client.ObjectKey{Namespace: m.key.Namespace, Name: "my-mm2-mirrormaker2"}, &networkingv1.NetworkPolicy{})).To(Succeed())
		Expect(m.server.Do(func(c *connect.Cluster) { c.Produce("orders", 100) })).To(Succeed())
		offsets := func() string { return m.offsets(ctx, mirrorSource) }
		Eventually(offsets).Should(ContainSubstring(`"offset":99`))

		By("listing them into a ConfigMap that does not exist")
		m.request(ctx, "list", mirrorSource)
		m.settles(ctx)
		stored := &corev1.ConfigMap{}
		Expect(admin.Get(ctx, client.ObjectKey{Namespace: m.key.Namespace, Name: "my-connector-offsets"}, stored)).To(Succeed())
		const entry = "east-kafka--west-kafka.MirrorSourceConnector.json"
		Expect(stored.Data).To(Equal(map[string]string{entry: document("99")}))
		Expect(stored.OwnerReferences).To(Equal([]metav1.OwnerReference{{
			APIVersion: "kafka.strimzi.io/v1beta2", Kind: "KafkaMirrorMaker2", Name: "my-mm2", UID: m.read(ctx, Default).UID, Controller: new(false), BlockOwnerDeletion: new(false),
		}}))

		By("refusing to alter or to reset the offsets of a connector that is not stopped")
		stored.Data[entry], stored.Data["mine"], stored.OwnerReferences = document("9"), "kept", nil
		Expect(admin.Update(ctx, stored)).To(Succeed())
		m.request(ctx, "reset", mirrorSource)
		m.warns(ctx, "ResetOffsets", "Failed to reset the connector offsets for "+mirrorSource+" due to the connector not being stopped")
		m.request(ctx, "alter", mirrorSource)
		m.warns(ctx, "AlterOffsets", "Failed to alter the connector offsets for "+mirrorSource+" due to the connector not being stopped")

		By("altering them once it is stopped")
		m.edit(ctx, source(kafkav1beta2.ConnectorStopped))
		m.settles(ctx)
		Expect(offsets()).To(ContainSubstring(`"offset":9}`))

		By("listing them into a ConfigMap that exists")
		m.request(ctx, "list", mirrorSource)
		m.settles(ctx)
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(stored.Data).To(Equal(map[string]string{entry: document("9"), "mine": "kept"}))
		Expect(stored.OwnerReferences).To(BeEmpty())

		By("quoting Connect's refusal")
		stored.Data[entry] = `{"offsets":[]}`
		Expect(admin.Update(ctx, stored)).To(Succeed())
		m.request(ctx, "alter", mirrorSource)
		m.warns(ctx, "AlterOffsets", "Partitions / offsets need to be provided for an alter offsets request")
		m.edit(ctx, func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations = nil })
		m.settles(ctx)

		By("replaying all records after a reset")
		m.request(ctx, "reset", mirrorSource)
		m.settles(ctx)
		Expect(offsets()).To(Equal(`{"offsets":[]}`))
		m.edit(ctx, source(""))
		m.settles(ctx)
		mirrored := func() (n int64) {
			Expect(m.server.Do(func(c *connect.Cluster) { n = c.Mirrored(mirrorSource) })).To(Succeed())
			return n
		}
		Eventually(mirrored).Should(Equal(int64(200)))

		By("naming a property that is missing")
		m.request(ctx, "list", mirrorCheckpoint)
		m.warns(ctx, "ListOffsets", "Failed to list the connector offsets for "+mirrorCheckpoint+" due to missing property listOffsets in KafkaMirrorMaker2 CR.")
	}, SpecTimeout(timeLimit))

	It("alters, lists and resets the offsets of connectors of every class, which the same edit stops", func(ctx SpecContext) {
		m := mirroringIn(ctx, newScene(ctx, clusters{}, nil).namespace)
		m.settles(ctx)
		entries := map[string]string{
			"east-kafka--west-kafka.MirrorSourceConnector.json": document("0"),
			"east-kafka--west-kafka.MirrorCheckpointConnector.json": "{\n  \"offsets\": [\n    {\n      \"partition\": {\n        \"group\": \"my-group\",\n        \"partition\": 4,\n        \"topic\": \"inventory\"\n" +
				"      },\n      \"offset\": {\n        \"offset\": 0\n      }\n    }\n  ]\n}\n",
			"east-kafka--west-kafka.MirrorHeartbeatConnector.json": "{\n  \"offsets\": [\n    {\n      \"partition\": {\n        \"sourceClusterAlias\": \"east-kafka\",\n        \"targetClusterAlias\": \"west-kafka\"\n" +
				"      },\n      \"offset\": {\n        \"offset\": 0\n      }\n    }\n  ]\n}\n",
		}
		all := func(state kafkav1beta2.ConnectorState) func(m *kafkav1beta2.KafkaMirrorMaker2) {
			return func(m *kafkav1beta2.KafkaMirrorMaker2) {
				mirror := &m.Spec.Mirrors[0]
				one := mirror.SourceConnector
				one.State, one.ListOffsets.ToConfigMap.Name = state, "my-mm2-offsets"
				mirror.CheckpointConnector, mirror.HeartbeatConnector = one.DeepCopy(), one.DeepCopy()
			}
		}
		given := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.key.Namespace, Name: "my-connector-offsets"}, Data: entries}
		Expect(admin.Create(ctx, given)).To(Succeed())

		By("stopping all three and altering their offsets in one edit")
		m.request(ctx, "alter", "*", all(kafkav1beta2.ConnectorStopped))
		m.settles(ctx)
		for _, connector := range []string{mirrorSource, mirrorCheckpoint, mirrorHeartbeat} {
			Expect(m.offsets(ctx, connector)).To(MatchJSON(entries[connectclient.EntryName(connector)]), connector)
		}

		By("listing them")
		m.request(ctx, "list", "*")
		m.settles(ctx)
		stored := &corev1.ConfigMap{}
		Expect(admin.Get(ctx, client.ObjectKey{Namespace: m.key.Namespace, Name: "my-mm2-offsets"}, stored)).To(Succeed())
		Expect(stored.Data).To(Equal(entries))

		By("stopping all three again and resetting their offsets in one edit")
		m.edit(ctx, all(kafkav1beta2.ConnectorRunning))
		m.settles(ctx)
		m.request(ctx, "reset", "*", all(kafkav1beta2.ConnectorStopped))
		m.settles(ctx)
		for _, connector := range []string{mirrorSource, mirrorCheckpoint, mirrorHeartbeat} {
			Expect(m.offsets(ctx, connector)).To(Equal(`{"offsets":[]}`), connector)
		}
	}, SpecTimeout(timeLimit))
})
