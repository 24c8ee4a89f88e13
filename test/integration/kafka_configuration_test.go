package integration

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/kafka"
)

const compression = "compression.type"

var _ = Describe("a configuration that Kafka takes without a restart", func() {
	It("is altered and undone by operators that die one after the other, with all statuses deleted after each", func(ctx SpecContext) {
		world := newEstate()
		world.scale = 0.03
		sc := sceneIn(ctx, clusters{}, world, nil)
		altered := brokers(sc, "altered", newest, poolOf(client.ObjectKey{Namespace: sc.namespace, Name: "altered"}, "more", 2, brokerRole))
		sc.kill()
		entering := func(state string) string {
			return fmt.Sprintf("put kafkas/status altered: %s in %s", observation.LifecycleConfiguration, state)
		}
		die := func(points ...string) {
			for _, point := range points {
				sc.startToDie(point)
				Eventually(sc.operator.Dead).WithTimeout(timeLimit).Should(BeTrue(), point)
				sc.kill()
				sc.updateNamed(altered.Name, func(o lifecycle.Object) { kafkaIn(o).Status = kafkav1beta2.KafkaStatus{} }, func(o lifecycle.Object) error { return admin.Status().Update(ctx, o) })
				world.Cleanup(altered)
			}
			sc.start(nil)
			Eventually(func() string { return sc.restless(sc.object(altered.Name)) }).WithTimeout(timeLimit).Should(BeEmpty())
		}
		record := "configmaps " + render.AlteredName(altered.Name)

		configure(sc, altered.Name, compression, "zstd")
		die(entering(dynamicconfig.Remembering), "post "+record, entering(dynamicconfig.Altering), "alter configurations")
		Eventually(func() []kafka.DynamicValue { return dynamicOf(altered) }).WithTimeout(timeLimit).Should(Equal([]kafka.DynamicValue{
			{Broker: kafka.None, ConfigValue: kafka.ConfigValue{Name: compression, Value: "zstd"}},
		}))
		Expect(recordOfAltered(ctx, altered)).To(Equal(compression))
		sc.kill()

		configure(sc, altered.Name, compression, "")
		die(entering(dynamicconfig.Altering), "alter configurations", entering(dynamicconfig.Forgetting), "delete "+record)
		Expect(dynamicOf(altered)).To(BeEmpty())
		Expect(recordOfAltered(ctx, altered)).To(BeEmpty())
		Expect(outside.born.of(altered)).To(HaveEach(HaveSuffix("was made 1 times")))
	}, NodeTimeout(timeLimit))

	It("is refused with Kafka's words, and taken when it is corrected", func(ctx SpecContext) {
		sc, key := restingCluster(ctx, "refused", 1)
		world, ok := sc.world.(*estate)
		Expect(ok).To(BeTrue())
		// A pause below the second in which the state was entered may pass before the status shows what Kafka said.
		world.at(key, func(s *site) { s.patient = true })
		configure(sc, key.Name, "message.max.bytes", "many")
		Eventually(func() lifecycleEntry {
			e := entryOf(sc.object(key.Name), observation.LifecycleConfiguration)
			return lifecycleEntry{e.State, fmt.Sprint(e.WaitingFor)}
		}).WithTimeout(timeLimit).Should(And(HaveField("State", dynamicconfig.Refusing), HaveField("Waits", And(
			ContainSubstring("Invalid value many for configuration message.max.bytes"), ContainSubstring("correct spec.kafka.config")))))
		Expect(conditionOf(sc.object(key.Name), lifecycle.Stalled)).To(HaveField("Reason", dynamicconfig.Refusing))
		configure(sc, key.Name, "message.max.bytes", "2000000")
		Eventually(func() []kafka.DynamicValue { return dynamicOf(key) }).WithTimeout(timeLimit).Should(HaveLen(1))
		sc.rest()
		Expect(outside.born.of(key)).To(HaveEach(HaveSuffix("was made 1 times")))
	}, NodeTimeout(timeLimit))
})

// lifecycleEntry is the state of a lifecycle and what it waits for.
type lifecycleEntry struct{ State, Waits string }

// configure sets a property in the spec, or removes it.
func configure(sc *scene, cluster, name, text string) {
	GinkgoHelper()
	sc.editNamed(cluster, func(o lifecycle.Object) {
		if config := kafkaIn(o).Spec.Kafka.Config; text == "" {
			delete(config, name)
		} else {
			config[name] = value(text)
		}
	})
}

// dynamicOf returns the dynamic values of a cluster that Kafka did not write itself.
func dynamicOf(cluster client.ObjectKey) (values []kafka.DynamicValue) {
	outside.ask(cluster, func(c *kafka.Cluster) { values = slices.Clone(c.Dynamic) })
	return slices.DeleteFunc(values, func(v kafka.DynamicValue) bool { return kafkaclient.Generated(v.Name) })
}

// recordOfAltered returns the names in the record of altered configurations; empty if there is none.
func recordOfAltered(ctx SpecContext, cluster client.ObjectKey) string {
	GinkgoHelper()
	m := &corev1.ConfigMap{}
	err := admin.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: render.AlteredName(cluster.Name)}, m)
	if apierrors.IsNotFound(err) {
		return ""
	}
	Expect(err).NotTo(HaveOccurred())
	return m.Data["altered"]
}
