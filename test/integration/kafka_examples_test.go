package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
)

// written reads a file of resources unchanged.
func written(path string) []*unstructured.Unstructured {
	GinkgoHelper()
	data, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	var out []*unstructured.Unstructured
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return out
		}
		Expect(err).NotTo(HaveOccurred())
		if len(o.Object) > 0 {
			out = append(out, o)
		}
	}
}

// examples are the files of the Strimzi releases that must be accepted unchanged.
func examples() []string {
	files, err := filepath.Glob("../testdata/upstream/strimzi/*/*.yaml")
	if err != nil || len(files) < 10 {
		panic(fmt.Sprintf("found %d example files of Strimzi (%v), want at least 10", len(files), err))
	}
	return files
}

var _ = Describe("an example file of Strimzi", func() {
	for _, file := range examples() {
		It("becomes a cluster as it is: "+filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(ctx SpecContext) {
			sc := newScene(ctx, clusters{}, nil)
			for _, o := range written(file) {
				o.SetNamespace(sc.namespace)
				Expect(admin.Create(ctx, o, client.FieldValidation("Strict"))).To(Succeed())
			}
			sc.start(nil)
			sc.rest()
			sc.settle()

			k := kafkaIn(sc.object("my-cluster"))
			version, err := outside.table.Find(k.Spec.Kafka.Version)
			Expect(err).NotTo(HaveOccurred())
			Expect(k.Status.KafkaVersion).To(Equal(version.String()))
			Eventually(func() metav1.Condition { return conditionOf(sc.object("my-cluster"), status.VersionSettled) }).Should(HaveField("Status", metav1.ConditionTrue))
			if k.Spec.Kafka.MetadataVersion != "" {
				Expect(k.Status.KafkaMetadataVersion).To(Equal(k.Spec.Kafka.MetadataVersion))
			}
			Expect(outside.born.of(client.ObjectKeyFromObject(k))).To(HaveEach(HaveSuffix("made 1 times")))
			here := client.InNamespace(sc.namespace)
			var pools kafkav1beta2.KafkaNodePoolList
			Expect(admin.List(ctx, &pools, here)).To(Succeed())
			replicas := int32(0)
			for _, pool := range pools.Items {
				Expect(pool.Status.NodeIDs).To(HaveLen(int(pool.Spec.Replicas)), pool.Name)
				Expect(meta.IsStatusConditionTrue(pool.Status.Conditions, "Ready")).To(BeTrue(), pool.Name)
				replicas += pool.Spec.Replicas
			}
			var pods corev1.PodList
			Expect(admin.List(ctx, &pods, here)).To(Succeed())
			Expect(pods.Items).To(HaveLen(int(replicas)))
			for i := range pods.Items {
				pod := &pods.Items[i]
				owner := metav1.GetControllerOf(pod)
				Expect(owner).NotTo(BeNil(), pod.Name)
				Expect(owner.Kind).To(Equal("StrimziPodSet"), pod.Name)
				rec := &corev1.ConfigMap{}
				Expect(admin.Get(ctx, client.ObjectKey{Namespace: sc.namespace, Name: record.Name(pod.Name)}, rec)).To(Succeed())
				Expect(rec.OwnerReferences).To(BeEmpty())
				Expect(rec.Data[record.KeyVersion]).To(Equal(pod.Annotations[labels.KafkaVersion]))
				config := &corev1.ConfigMap{}
				Expect(admin.Get(ctx, client.ObjectKeyFromObject(pod), config)).To(Succeed())
				Expect(mountedKeys(pod)).NotTo(BeEmpty())
				for _, key := range mountedKeys(pod) {
					Expect(config.Data).To(HaveKey(key), pod.Name)
				}
			}
			var sets corev1beta2.StrimziPodSetList
			Expect(admin.List(ctx, &sets, here)).To(Succeed())
			Expect(sets.Items).To(HaveLen(len(pools.Items)))
			for _, set := range sets.Items {
				Expect(set.Status.CurrentPods).To(BeEquivalentTo(len(set.Spec.Pods)), set.Name)
				Expect(set.Annotations).NotTo(HaveKey(labels.Restarting), set.Name)
			}
			for name, o := range map[string]client.Object{
				"my-cluster-kafka-brokers": &corev1.Service{}, "my-cluster-kafka-bootstrap": &corev1.Service{},
				"my-cluster-kafka": &policyv1.PodDisruptionBudget{},
			} {
				Expect(admin.Get(ctx, client.ObjectKey{Namespace: sc.namespace, Name: name}, o)).To(Succeed())
			}
			var claims corev1.PersistentVolumeClaimList
			Expect(admin.List(ctx, &claims, here)).To(Succeed())
			if strings.Contains(file, "ephemeral") {
				Expect(claims.Items).To(BeEmpty())
			} else {
				Expect(len(claims.Items)).To(BeNumerically(">=", int(replicas)))
			}
			for _, claim := range claims.Items {
				Expect(claim.OwnerReferences).To(BeEmpty(), claim.Name)
			}

			//   The next evaluation finds every node registered, and withdraws the permission to format volumes that outlive a pod.
			sc.editNamed("my-cluster", func(o lifecycle.Object) { o.SetLabels(map[string]string{"looked-at": "once"}) })
			format := record.FormatDone
			if len(claims.Items) == 0 {
				format = record.FormatAllowed
			}
			for _, pod := range pods.Items {
				Eventually(func(g Gomega) {
					rec := &corev1.ConfigMap{}
					g.Expect(admin.Get(ctx, client.ObjectKey{Namespace: sc.namespace, Name: record.Name(pod.Name)}, rec)).To(Succeed())
					g.Expect(rec.Data[record.KeyFormat]).To(BeEquivalentTo(format), pod.Name)
				}).Should(Succeed())
			}
			sc.settle()

			//   Defaults that an API server adds to objects are not a difference: nothing is written at rest.
			before := len(bench.Traffic.Of(sc.namespace, lab.Request.Writes))
			sc.editNamed("my-cluster", func(o lifecycle.Object) { o.SetLabels(map[string]string{"looked-at": "again"}) })
			sc.settle()
			Expect(bench.Traffic.Of(sc.namespace, lab.Request.Writes)).To(HaveLen(before), "writes at rest")
		}, NodeTimeout(2*timeLimit))
	}
})

// mountedKeys are the keys of the pod's own ConfigMap that it mounts.
func mountedKeys(pod *corev1.Pod) []string {
	var keys []string
	for _, v := range pod.Spec.Volumes {
		if v.ConfigMap != nil && v.ConfigMap.Name == pod.Name {
			for _, item := range v.ConfigMap.Items {
				keys = append(keys, item.Key)
			}
		}
	}
	return keys
}
