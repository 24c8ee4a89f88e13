//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// killLeader kills the manager that leads, and notes in which state of a lifecycle.
func (b *brokers) killLeader(ctx SpecContext, name string) {
	GinkgoHelper()
	k, err := b.get(ctx)
	Expect(err).NotTo(HaveOccurred())
	pod := leader(ctx)
	Expect(cluster.Kill(ctx, pod)).To(Succeed())
	b.kills++
	l := lifecycle(k, name)
	b.Note("manager killed in %s, selected node %s", l.State, l.Data["node"])
}

// says waits until the status says something.
func (b *brokers) says(ctx SpecContext, within time.Duration, words ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		k, err := b.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		for _, word := range words {
			g.Expect(statement(k.Status.Conditions, k.Status.Lifecycles)).To(ContainSubstring(word))
		}
	}).WithContext(ctx).WithTimeout(within).Should(Succeed(), b.said(ctx))
}

// silent waits until the status does not say something any more.
func (b *brokers) silent(ctx SpecContext, within time.Duration, words string) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) (string, error) {
		k, err := b.get(ctx)
		return statement(k.Status.Conditions, k.Status.Lifecycles), err
	}).WithContext(ctx).WithTimeout(within).ShouldNot(ContainSubstring(words), b.said(ctx))
}

// wipe deletes the status of the Kafka, and waits until it has one again.
func (b *brokers) wipe(ctx SpecContext) {
	GinkgoHelper()
	k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: clusterName}}
	Expect(cluster.Client.Status().Patch(ctx, k, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/status"}]`)))).To(Succeed())
	Eventually(func(ctx context.Context) (int, error) {
		k, err := b.get(ctx)
		return len(k.Status.Lifecycles), err
	}).WithContext(ctx).ShouldNot(BeZero(), b.said(ctx))
}

// lose removes a node's pod without grace, as the loss of its machine does. It must return with the version that it last ran.
func (b *brokers) lose(ctx SpecContext, name, version string) {
	GinkgoHelper()
	key := client.ObjectKey{Namespace: b.Namespace, Name: name}
	lost := &corev1.Pod{}
	Expect(cluster.Client.Get(ctx, key, lost)).To(Succeed())
	Expect(cluster.Client.Delete(ctx, lost, client.GracePeriodSeconds(0))).To(Succeed())
	Eventually(func(g Gomega, ctx context.Context) {
		pod := &corev1.Pod{}
		g.Expect(cluster.Client.Get(ctx, key, pod)).To(Succeed())
		g.Expect(pod.UID).NotTo(Equal(lost.UID))
		g.Expect(pod.Spec.Containers[0].Image).To(Equal("apache/kafka:" + version))
		g.Expect(ready(pod)).To(BeTrue(), "pod %s is ready", name)
	}).WithContext(ctx).Should(Succeed(), b.said(ctx))
}

// remove a pod without grace.
func (b *brokers) remove(ctx SpecContext, name string) {
	GinkgoHelper()
	Expect(cluster.Client.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name}}, client.GracePeriodSeconds(0))).To(Succeed())
}

// applyAgain deletes the Kafka, waits until none of its nodes is left, and applies it again with the same spec. Its pools, disks and
// records stay.
func (b *brokers) applyAgain(ctx SpecContext) {
	GinkgoHelper()
	k, err := b.get(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(cluster.Client.Delete(ctx, k)).To(Succeed())
	Eventually(func() int { return len(b.nodes(ctx)) }).WithContext(ctx).WithTimeout(patience).Should(BeZero(), "pods of the deleted Kafka")
	again := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name, Annotations: k.Annotations}, Spec: k.Spec}
	Eventually(func(ctx context.Context) error { return cluster.Client.Create(ctx, again.DeepCopy()) }).WithContext(ctx).Should(Succeed())
}

// crashed waits until the process of each of that many nodes has ended with an error.
func (b *brokers) crashed(ctx SpecContext, nodes int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pods := b.nodes(ctx)
		g.Expect(pods).To(HaveLen(nodes))
		for i := range pods {
			g.Expect(ready(&pods[i])).To(BeFalse(), "pod %s is ready", pods[i].Name)
			g.Expect(pods[i].Status.ContainerStatuses).To(HaveLen(1), "containers of pod %s", pods[i].Name)
			c := &pods[i].Status.ContainerStatuses[0]
			end := cmp.Or(c.State.Terminated, c.LastTerminationState.Terminated)
			g.Expect(end).NotTo(BeNil(), "end of the process of pod %s", pods[i].Name)
			g.Expect(end.ExitCode).NotTo(BeZero(), "exit code of pod %s", pods[i].Name)
		}
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed(), b.said(ctx))
}

// restartAPIServer kills the API server, starts it, and waits until it answers.
func restartAPIServer(ctx SpecContext) {
	GinkgoHelper()
	Expect(cluster.Chaos(ctx, "stop", "kube-apiserver")).To(Succeed())
	Expect(cluster.Chaos(ctx, "start", "kube-apiserver")).To(Succeed())
	Eventually(func(ctx context.Context) error { return cluster.Client.List(ctx, &corev1.NamespaceList{}) }).WithContext(ctx).Should(Succeed())
}

// pauseReady stops the processes of all nodes that are ready, without ending them, until resume is called.
func (b *brokers) pauseReady(ctx SpecContext) (resume func()) {
	GinkgoHelper()
	var paused []string
	for _, pod := range b.nodes(ctx) {
		if ready(&pod) {
			paused = append(paused, b.Namespace+"/"+pod.Name)
		}
	}
	each := func(verb string) {
		GinkgoHelper()
		for _, pod := range paused {
			Expect(cluster.Chaos(ctx, verb, pod)).To(Succeed())
		}
	}
	each("pause")
	return func() { each("resume") }
}

// snapshots waits until every node has taken a snapshot of the metadata log since now.
func (b *brokers) snapshots(ctx SpecContext) {
	GinkgoHelper()
	newest := func(pod string) string {
		return b.exec(ctx, pod, "sh", "-c", "ls -d /var/lib/kafka/*/*/__cluster_metadata-0/*.checkpoint | sort | tail -n 1")
	}
	before := map[string]string{}
	for _, pod := range b.nodes(ctx) {
		before[pod.Name] = newest(pod.Name)
	}
	for pod, old := range before {
		Eventually(func() string { return newest(pod) }).WithContext(ctx).WithTimeout(patience).WithPolling(2*time.Second).ShouldNot(Equal(old), "newest snapshot of %s", pod)
	}
}
