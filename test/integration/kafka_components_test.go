package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/status"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// operatorVersion is the version of every operator of the suite.
const operatorVersion = "0.0.0-test"

// Images of components: badComponent cannot be pulled.
const (
	goodComponent = "example.com/component:good"
	badComponent  = "example.com/component:bad"
)

// versionsShown are the two versions in the status, and whether the cluster is Ready.
type versionsShown struct {
	Operator, Kafka string
	Ready           bool
}

var _ = Describe("the reconciled versions in the status of a Kafka", func() {
	shown := func(sc *scene, key client.ObjectKey) func() versionsShown {
		return func() versionsShown {
			k := kafkaIn(sc.object(key.Name))
			return versionsShown{k.Status.OperatorLastSuccessfulVersion, k.Status.KafkaVersion, meta.IsStatusConditionTrue(k.Status.Conditions, lifecycle.Ready)}
		}
	}
	// components are an exporter and an entity operator with user-defined images.
	components := func(k *kafkav1beta2.Kafka, image string) {
		k.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{Image: image}
		k.Spec.EntityOperator = &kafkav1beta2.EntityOperatorSpec{TopicOperator: &kafkav1beta2.EntityOperatorComponent{Image: image}}
	}
	// lastSuccess stores the versions that an earlier operator would have written.
	lastSuccess := func(sc *scene, key client.ObjectKey, operator, kafka string) {
		GinkgoHelper()
		sc.updateNamed(key.Name, func(o lifecycle.Object) {
			k := kafkaIn(o)
			k.Status.OperatorLastSuccessfulVersion, k.Status.KafkaVersion = operator, kafka
		}, func(o lifecycle.Object) error { return admin.Status().Update(sc, o) })
	}
	deployed := func(sc *scene, name string) func() error {
		return func() error {
			return admin.Get(sc, client.ObjectKey{Namespace: sc.namespace, Name: name}, &appsv1.Deployment{})
		}
	}
	componentsMissing := func(sc *scene, key client.ObjectKey) func() string {
		return func() string { return conditionOf(sc.object(key.Name), lifecycle.Ready).Reason }
	}
	It("appear one after the other in a fresh install", func(ctx SpecContext) {
		sc := newScene(ctx, clusters{}, nil)
		key := client.ObjectKey{Namespace: sc.namespace, Name: "fresh"}
		By("keeping the nodes from becoming ready")
		outside.born.stunt(key, true)
		k := kafkaOf(key.Namespace, key.Name, old, "", 1)
		components(k, badComponent)
		for _, o := range []client.Object{poolOf(key, "p", 1, controllerRole, brokerRole), k} {
			Expect(admin.Create(ctx, o)).To(Succeed())
		}
		sc.start(nil)
		Eventually(func() []string { return outside.born.of(key) }).ShouldNot(BeEmpty())
		Consistently(shown(sc, key), "1s").Should(Equal(versionsShown{}), "neither is set before the brokers run")

		By("letting the nodes become ready, while no component can start")
		outside.born.stunt(key, false)
		outside.script.neverReady(client.ObjectKey{Namespace: key.Namespace, Name: key.Name + "-p-0"}, false)
		Eventually(shown(sc, key)).Should(Equal(versionsShown{Kafka: old}))
		Eventually(deployed(sc, key.Name+"-kafka-exporter")).Should(Succeed())
		Eventually(deployed(sc, key.Name+"-entity-operator")).Should(Succeed())
		Eventually(componentsMissing(sc, key)).Should(Equal("ComponentsNotReady"))
		Consistently(shown(sc, key), "2s").Should(Equal(versionsShown{Kafka: old}), "with components at 0/1 the operator has not succeeded")

		By("correcting the images")
		sc.editNamed(key.Name, func(o lifecycle.Object) { components(kafkaIn(o), goodComponent) })
		Eventually(shown(sc, key)).Should(Equal(versionsShown{Operator: operatorVersion, Kafka: old, Ready: true}))
		Consistently(shown(sc, key), silentFor, "20ms").Should(HaveField("Ready", true), "only the simulator writes the status of a Deployment")

		By("breaking a component of the cluster that runs")
		sc.editNamed(key.Name, func(o lifecycle.Object) { kafkaIn(o).Spec.KafkaExporter.Image = badComponent })
		Eventually(shown(sc, key)).Should(Equal(versionsShown{Operator: operatorVersion, Kafka: old}), "what was reconciled is kept")
	}, NodeTimeout(2*timeLimit))

	It("appear on a running cluster that has none, and do not wait for a component without an image", func(ctx SpecContext) {
		sc, key := restingCluster(ctx, "before", 1)
		sc.kill()
		lastSuccess(sc, key, "", "")
		sc.editNamed(key.Name, func(o lifecycle.Object) {
			k := kafkaIn(o)
			components(k, badComponent)
			k.Spec.EntityOperator.TopicOperator.Image = ""
		})
		Expect(shown(sc, key)().Kafka).To(BeEmpty())

		sc.start(nil)
		Eventually(shown(sc, key)).Should(Equal(versionsShown{Kafka: old}))
		Eventually(deployed(sc, key.Name+"-kafka-exporter")).Should(Succeed())
		Consistently(shown(sc, key), "1s").Should(Equal(versionsShown{Kafka: old}))
		sc.editNamed(key.Name, func(o lifecycle.Object) { kafkaIn(o).Spec.KafkaExporter.Image = goodComponent })
		Eventually(shown(sc, key)).Should(Equal(versionsShown{Operator: operatorVersion, Kafka: old, Ready: true}))
		warned := func(c lifecyclev1.Status) bool {
			for _, one := range c.Conditions {
				if one.Type == lifecycle.Warning && one.Reason == status.ReasonNotDeployed {
					return true
				}
			}
			return false
		}
		Expect(warned(kafkaIn(sc.object(key.Name)).Status.Status)).To(BeTrue(), "the entity operator without an image is a Warning")
		Expect(client.IgnoreNotFound(deployed(sc, key.Name+"-entity-operator")())).To(Succeed())
		Expect(deployed(sc, key.Name+"-entity-operator")()).NotTo(Succeed())
	}, NodeTimeout(2*timeLimit))

	It("move on one after the other in an upgrade of operator and Kafka", func(ctx SpecContext) {
		const earlier = "0.0.1-earlier"
		sc, key := restingCluster(ctx, "upgrade", 1)
		sc.kill()
		lastSuccess(sc, key, earlier, old)
		sc.editNamed(key.Name, func(o lifecycle.Object) {
			k := kafkaIn(o)
			components(k, badComponent)
			k.Spec.Kafka.Version = newer
		})
		sc.start(nil)
		Eventually(shown(sc, key)).Should(Equal(versionsShown{Operator: earlier, Kafka: newer}), "the brokers are done, the components are not")
		Consistently(shown(sc, key), "1s").Should(Equal(versionsShown{Operator: earlier, Kafka: newer}))
		sc.editNamed(key.Name, func(o lifecycle.Object) { components(kafkaIn(o), goodComponent) })
		Eventually(shown(sc, key)).Should(Equal(versionsShown{Operator: operatorVersion, Kafka: newer, Ready: true}))
	}, NodeTimeout(2*timeLimit))
})
