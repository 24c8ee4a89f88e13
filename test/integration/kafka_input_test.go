package integration

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
)

var _ = Describe("what people declare", func() {
	It("is refused by the API server itself where the schema can tell", func(ctx SpecContext) {
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

	It("is refused with a reason where only the operator can tell, and mended by taking it back", func(ctx SpecContext) {
		sc := newScene(ctx, clusters{}, nil)
		sc.start(nil)
		jump := client.ObjectKey{Namespace: sc.namespace, Name: "jump"}
		for _, o := range []client.Object{
			poolOf(jump, "j", 1, controllerRole, brokerRole), kafkaOf(jump.Namespace, jump.Name, old, "", 1),
		} {
			Expect(admin.Create(ctx, o)).To(Succeed())
		}
		sc.rest()
		sc.settle()
		made := outside.born.of(jump)

		sc.editNamed(jump.Name, func(o lifecycle.Object) { kafkaIn(o).Spec.Kafka.Version = oldest })
		Eventually(refusal(sc, jump.Name)).Should(And(HavePrefix("Refused"), ContainSubstring("metadata.version"), ContainSubstring(oldest)))
		Expect(outside.born.of(jump)).To(Equal(made), "nothing was touched")

		sc.editNamed(jump.Name, func(o lifecycle.Object) { kafkaIn(o).Spec.Kafka.Version = old })
		Eventually(func() string { return sc.restless(sc.all()[jump.Name]) }).Should(BeEmpty())
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
		Eventually(func() string { return sc.restless(sc.all()[twins.Name]) }).Should(BeEmpty())
		Expect(outside.born.of(twins)).To(Equal(made), "nothing was touched")
	})

	It("may be Strimzi's own examples, all of which settle", func(ctx SpecContext) {
		sc := newScene(ctx, clusters{}, nil)
		files, err := filepath.Glob("../testdata/upstream/strimzi/*/*.yaml")
		Expect(err).NotTo(HaveOccurred())
		Expect(files).To(HaveLen(10))
		world := newEstate()
		namespaces := map[string]*scene{}
		var names []string
		for _, file := range files {
			one := sceneIn(ctx, clusters{}, world, nil)
			namespaces[file] = one
			names = append(names, one.namespace)
			for _, o := range documents(file) {
				o.SetNamespace(one.namespace)
				if o.GetKind() == kafkav1beta2.KindKafka { // a second is enough for a session in this world
					Expect(unstructured.SetNestedField(o.Object, int64(1000), "spec", "kafka", "config", "broker.session.timeout.ms")).To(Succeed())
				}
				Expect(admin.Create(ctx, o, client.FieldValidation("Strict"))).To(Succeed(), file)
			}
		}
		sc.operator = startIn(ctx, world, nil, names...)
		for file, one := range namespaces {
			one.rest()
			k := kafkaIn(one.all()["my-cluster"])
			version, err := outside.table.Find(k.Spec.Kafka.Version)
			Expect(err).NotTo(HaveOccurred())
			Expect(k.Status.KafkaVersion).To(Equal(version.String()), file)
			Expect(conditionOf(k, kafkacontroller.VersionSettled).Status).To(Equal(metav1.ConditionTrue), "%s: %+v", file, conditionOf(k, kafkacontroller.VersionSettled))
			if k.Spec.Kafka.MetadataVersion != "" {
				Expect(k.Status.KafkaMetadataVersion).To(Equal(k.Spec.Kafka.MetadataVersion), file)
			}
			Expect(outside.born.of(client.ObjectKeyFromObject(k))).To(HaveEach(HaveSuffix("made 1 times")), file)
		}
		laws.note("kafka: %d of Strimzi's examples settled in %d requests that write", len(files), writesIn(names))
	}, NodeTimeout(2*timeLimit))
})

// refusal is the reason and the message by which an object says that it is stuck.
func refusal(sc *scene, name string) func() string {
	return func() string {
		o := sc.all()[name]
		return conditionOf(o, lifecycle.Stalled).Reason + " " + conditionOf(o, lifecycle.Ready).Message
	}
}

func writesIn(namespaces []string) (n int) {
	for _, name := range namespaces {
		n += len(bench.Traffic.Of(name, lab.Request.Writes, lab.Request.Done))
	}
	return n
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

// documents of a file.
func documents(file string) []*unstructured.Unstructured {
	text, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	var out []*unstructured.Unstructured
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return out
		}
		Expect(err).NotTo(HaveOccurred(), file)
		if len(o.Object) > 0 && strings.HasPrefix(o.GetKind(), "Kafka") {
			out = append(out, o)
		}
	}
}
