package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

var _ = Describe("an invalid spec", func() {
	It("is refused by the API server where the schema covers it", func(ctx SpecContext) {
		sc := newScene(ctx, clusters{}, nil)
		for name, spoil := range map[string]func(spec map[string]any){
			"an unknown field":          func(spec map[string]any) { spec["release"] = "4.1.1" },
			"a number for a version":    func(spec map[string]any) { spec["version"] = int64(4) },
			"a text for a list":         func(spec map[string]any) { spec["listeners"] = "plain" },
			"a port that is not a port": func(spec map[string]any) { spec["listeners"].([]any)[0].(map[string]any)["port"] = "many" },
		} {
			o := asUnstructured(kafkaOf(sc.namespace, "orders", old, "", 1))
			spec, _, err := unstructured.NestedFieldNoCopy(o.Object, "spec", "kafka")
			Expect(err).NotTo(HaveOccurred())
			fields, ok := spec.(map[string]any)
			Expect(ok).To(BeTrue())
			spoil(fields)
			err = admin.Create(ctx, o, client.FieldValidation("Strict"))
			Expect(apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)).To(BeTrue(), "%s: %v", name, err)
		}
	})

	It("is refused with a reason by the operator otherwise, and accepted once it is reverted", func(ctx SpecContext) {
		sc, jump := restingCluster(ctx, "jump", 1)
		made := outside.born.of(jump)

		sc.editNamed(jump.Name, func(o lifecycle.Object) { kafkaIn(o).Spec.Kafka.Version = oldest })
		Eventually(refusal(sc, jump.Name)).Should(And(HavePrefix("Refused"), ContainSubstring("metadata.version"), ContainSubstring(oldest)))
		Expect(outside.born.of(jump)).To(Equal(made), "nothing was touched")

		sc.editNamed(jump.Name, func(o lifecycle.Object) { kafkaIn(o).Spec.Kafka.Version = old })
		Eventually(func() string { return sc.restless(sc.object(jump.Name)) }).Should(BeEmpty())
		Expect(outside.born.of(jump)).To(Equal(made), "nothing was touched")
	})

	It("is refused where two pools claim one id, naming both", func(ctx SpecContext) {
		sc := newScene(ctx, clusters{}, nil)
		sc.start(nil)
		twins := client.ObjectKey{Namespace: sc.namespace, Name: "twins"}
		for _, o := range []client.Object{
			poolOf(twins, "left", 1, controllerRole, brokerRole), poolOf(twins, "right", 1, brokerRole), kafkaOf(twins.Namespace, twins.Name, old, "", 1),
		} {
			Expect(admin.Create(ctx, o)).To(Succeed())
		}
		sc.rest()
		sc.settle()
		made := outside.born.of(twins)
		claim := func(ids ...int32) {
			GinkgoHelper()
			Eventually(func() error {
				right := &kafkav1beta2.KafkaNodePool{}
				if err := admin.Get(ctx, client.ObjectKey{Namespace: sc.namespace, Name: "right"}, right); err != nil {
					return err
				}
				right.Status.NodeIDs = ids
				return admin.Status().Update(ctx, right)
			}).Should(Succeed())
		}
		claim(0, 1)
		Eventually(refusal(sc, twins.Name)).Should(And(HavePrefix("Refused"), ContainSubstring("left"), ContainSubstring("right")))
		claim(1)
		Eventually(func() string { return sc.restless(sc.object(twins.Name)) }).Should(BeEmpty())
		Expect(outside.born.of(twins)).To(Equal(made), "nothing was touched")
	})
})

// refusal is the reason and the message of the object's condition that it is stuck.
func refusal(sc *scene, name string) func() string {
	return func() string {
		o := sc.object(name)
		return conditionOf(o, lifecycle.Stalled).Reason + " " + conditionOf(o, lifecycle.Ready).Message
	}
}

func asUnstructured(k *kafkav1beta2.Kafka) *unstructured.Unstructured {
	gvk, err := admin.GroupVersionKindFor(k)
	Expect(err).NotTo(HaveOccurred())
	fields, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(k)
	Expect(err).NotTo(HaveOccurred())
	o := &unstructured.Unstructured{Object: fields}
	o.SetGroupVersionKind(gvk)
	delete(o.Object, "status")
	return o
}
