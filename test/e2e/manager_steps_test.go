//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/go-version"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/config"
)

// manager returns the Deployment of the manager.
func manager(ctx SpecContext) *appsv1.Deployment {
	GinkgoHelper()
	d := &appsv1.Deployment{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: config.Namespace, Name: config.Account}, d)).To(Succeed())
	return d
}

// changeManager changes the Deployment of the manager for the rest of the scenario.
func changeManager(ctx SpecContext, change func(*appsv1.DeploymentSpec)) {
	GinkgoHelper()
	d := manager(ctx)
	original := d.Spec
	change(&d.Spec)
	put := func(ctx SpecContext, spec appsv1.DeploymentSpec) {
		GinkgoHelper()
		d := manager(ctx)
		d.Spec = spec
		Expect(cluster.Client.Update(ctx, d)).To(Succeed())
		deployed(ctx, config.Namespace, config.Account)
	}
	DeferCleanup(put, original)
	put(ctx, *d.Spec.DeepCopy())
}

// managerWith adds arguments to the manager.
func managerWith(ctx SpecContext, args ...string) {
	GinkgoHelper()
	changeManager(ctx, func(spec *appsv1.DeploymentSpec) {
		spec.Template = *spec.Template.DeepCopy()
		container := &spec.Template.Spec.Containers[0]
		container.Args = append(container.Args, args...)
	})
	leader(ctx)
}

// withoutManager scales the manager to no replica while it calls do.
func withoutManager(ctx SpecContext, do func()) {
	GinkgoHelper()
	scale := func(ctx SpecContext, replicas int32) {
		GinkgoHelper()
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
		Expect(cluster.Client.Patch(ctx, manager(ctx), patch)).To(Succeed())
		Eventually(func(ctx context.Context) (int, error) {
			pods := &corev1.PodList{}
			err := cluster.Client.List(ctx, pods, client.InNamespace(config.Namespace))
			return len(pods.Items), err
		}).WithContext(ctx).Should(BeEquivalentTo(replicas), "pods of the manager")
		deployed(ctx, config.Namespace, config.Account)
	}
	replicas := *manager(ctx).Spec.Replicas
	DeferCleanup(scale, replicas)
	scale(ctx, 0)
	do()
	scale(ctx, replicas)
	leader(ctx)
}

// managerKnowing gives the manager a table of Kafka's versions up to the newest one that it is to know.
func managerKnowing(ctx SpecContext, newest string) {
	GinkgoHelper()
	const name, dir, file = "kafka-versions", "/etc/detent", "versions.yaml"
	table := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: config.Namespace, Name: name}, Data: map[string]string{file: tableUpTo(newest)}}
	Expect(cluster.Client.Create(ctx, table)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(cluster.Client.Delete(ctx, table)).To(Succeed()) })
	changeManager(ctx, func(spec *appsv1.DeploymentSpec) {
		spec.Template = *spec.Template.DeepCopy()
		pod := &spec.Template.Spec
		source := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		container := &pod.Containers[0]
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: dir, ReadOnly: true})
		container.Args = append(container.Args, "--kafka-versions="+dir+"/"+file)
	})
	leader(ctx)
}

// tableUpTo returns the built-in table of Kafka's versions without those after the newest one, which becomes the default.
func tableUpTo(newest string) string {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(root, "clients/kafka/versions/kafka-versions.yaml"))
	Expect(err).NotTo(HaveOccurred())
	var rows []map[string]any
	Expect(yaml.Unmarshal(text, &rows)).To(Succeed())
	last, err := version.NewVersion(newest)
	Expect(err).NotTo(HaveOccurred())
	rows = slices.DeleteFunc(rows, func(row map[string]any) bool {
		of, err := version.NewVersion(fmt.Sprint(row["version"]))
		Expect(err).NotTo(HaveOccurred())
		delete(row, "default")
		if of.Equal(last) {
			row["default"] = true
		}
		return of.GreaterThan(last)
	})
	text, err = yaml.Marshal(rows)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}
