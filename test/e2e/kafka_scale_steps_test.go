//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/test/e2e/stage"
)

// pool returns a KafkaNodePool.
func (b *brokers) pool(ctx context.Context, name string) (*kafkav1beta2.KafkaNodePool, error) {
	p := &kafkav1beta2.KafkaNodePool{}
	return p, cluster.Client.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: name}, p)
}

// editPool edits the spec of a pool by a merge patch.
func (b *brokers) editPool(ctx SpecContext, name, patch string) {
	GinkgoHelper()
	p := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name}}
	Expect(cluster.Client.Patch(ctx, p, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}

// resized begins a phase in which the spec of a pool requests another number of nodes.
func (b *brokers) resized(ctx SpecContext, name string, replicas int) *stage.Phase {
	GinkgoHelper()
	p := b.Phase(fmt.Sprintf("%s to %d nodes", name, replicas))
	b.editPool(ctx, name, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
	return p
}

// has waits until a pool has a number of nodes, all of them ready, and everything is as the spec requests. It returns their ids.
func (b *brokers) has(ctx SpecContext, name string, nodes int) []int32 {
	GinkgoHelper()
	var ids []int32
	Eventually(func(g Gomega, ctx context.Context) {
		p, err := b.pool(ctx, name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(p.Status.NodeIDs).To(HaveLen(nodes))
		holds(g, p, p.Status.Conditions, "Ready")
		k, err := b.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		holds(g, k, k.Status.Conditions, "Ready")
		ids = slices.Sorted(slices.Values(p.Status.NodeIDs))
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed(), b.said(ctx))
	all := b.nodes(ctx)
	for _, id := range ids {
		node := fmt.Sprintf("%s-%s-%d", clusterName, name, id)
		i := slices.IndexFunc(all, func(pod corev1.Pod) bool { return pod.Name == node })
		Expect(i).NotTo(Equal(-1), "pod %s", node)
		Expect(ready(&all[i])).To(BeTrue(), "pod %s is ready", node)
	}
	return ids
}

// poolSays waits until the status of a pool says something.
func (b *brokers) poolSays(ctx SpecContext, name string, words ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		p, err := b.pool(ctx, name)
		g.Expect(err).NotTo(HaveOccurred())
		for _, word := range words {
			g.Expect(statement(p.Status.Conditions, nil)).To(ContainSubstring(word))
		}
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed(), b.said(ctx))
}

// registered returns the ids of all registered brokers as Kafka lists them, fenced ones included.
func (b *brokers) registered(ctx SpecContext) string {
	GinkgoHelper()
	b.jobs++
	return work(ctx, b.Scenario, fmt.Sprintf("registrations-%d", b.jobs), "registrations", "--bootstrap="+clusterName+"-kafka-bootstrap:9092")
}

// joined are ids as registered returns them.
func joined(ids ...[]int32) string {
	all := slices.Sorted(slices.Values(slices.Concat(ids...)))
	words := make([]string, len(all))
	for i, id := range all {
		words[i] = fmt.Sprint(id)
	}
	return strings.Join(words, ", ")
}

// wipeAll deletes the status of every object of the Kafka, and waits until it has one again.
func (b *brokers) wipeAll(ctx SpecContext) {
	GinkgoHelper()
	for _, kind := range []string{"kafkanodepools.kafka.strimzi.io", "strimzipodsets.core.strimzi.io"} {
		out, err := cluster.Kubectl(ctx, "get", kind, "--namespace="+b.Namespace, "--output=name")
		Expect(err).NotTo(HaveOccurred())
		for name := range strings.FieldsSeq(out) {
			_, err := cluster.Kubectl(ctx, "patch", name, "--namespace="+b.Namespace, "--subresource=status", "--type=json", `--patch=[{"op":"remove","path":"/status"}]`)
			Expect(err).NotTo(HaveOccurred(), name)
		}
	}
	b.wipe(ctx)
}
