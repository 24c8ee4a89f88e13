//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown"
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

// podOf returns the name of the pod of a pool's node.
func podOf(pool string, id int32) string { return fmt.Sprintf("%s-%s-%d", clusterName, pool, id) }

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
		node := podOf(name, id)
		i := slices.IndexFunc(all, func(pod corev1.Pod) bool { return pod.Name == node })
		Expect(i).NotTo(Equal(-1), "pod %s", node)
		Expect(ready(&all[i])).To(BeTrue(), "pod %s is ready", node)
	}
	return ids
}

// grows waits until a pool, of whose only node no more than the process is left, has a ready node, and until the statuses of the pool and of
// the Kafka list both ids; that of the Kafka lists the others too. It returns the id of the new node.
func (b *brokers) grows(ctx SpecContext, name string, left int32, others ...int32) int32 {
	GinkgoHelper()
	var added int32
	Eventually(func(g Gomega, ctx context.Context) {
		p, err := b.pool(ctx, name)
		g.Expect(err).NotTo(HaveOccurred())
		holds(g, p, p.Status.Conditions, "Ready")
		g.Expect(p.Status.NodeIDs).To(And(HaveLen(2), ContainElement(left)), "ids in the status of the pool")
		k, err := b.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(k.Status.NodeIDs).To(ConsistOf(slices.Concat(p.Status.NodeIDs, others)), "node ids in the status of the Kafka")
		added = p.Status.NodeIDs[1-slices.Index(p.Status.NodeIDs, left)]
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed(), b.said(ctx))
	return added
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

// blocked waits until the status of a pool says that brokers leave, and of how many partitions each of them has a replica. The numbers are
// those of Kafka's own tool.
func (b *brokers) blocked(ctx SpecContext, pool string, leaving ...int32) {
	GinkgoHelper()
	held, words := b.held(ctx), []string{"ScaleDownPending"}
	for _, id := range leaving {
		Expect(held[id]).NotTo(BeZero(), "partitions with a replica on broker %d", id)
		words = append(words, fmt.Sprintf("%s (with replicas of %d partitions)", podOf(pool, id), held[id]))
	}
	b.poolSays(ctx, pool, words...)
}

// held returns of how many partitions each broker has a replica.
func (b *brokers) held(ctx SpecContext) map[int32]int {
	GinkgoHelper()
	partitions := map[int32]int{}
	replicas := regexp.MustCompile(`\sReplicas: ([\d,]+)`)
	for _, found := range replicas.FindAllStringSubmatch(b.kafkaTool(ctx, "org.apache.kafka.tools.TopicCommand", "--describe"), -1) {
		for word := range strings.SplitSeq(found[1], ",") {
			partitions[idOf(word)]++
		}
	}
	return partitions
}

// idOf reads the id of a node as Kafka's tools print it.
func idOf(word string) int32 {
	GinkgoHelper()
	id, err := strconv.ParseInt(word, 10, 32)
	Expect(err).NotTo(HaveOccurred(), word)
	return int32(id)
}

// registered returns the ids of all registered brokers as Kafka lists them, fenced ones included.
func (b *brokers) registered(ctx SpecContext) string {
	GinkgoHelper()
	b.jobs++
	return work(ctx, b.Scenario, fmt.Sprintf("registrations-%d", b.jobs), "registrations", "--bootstrap="+clusterName+"-kafka-bootstrap:9092")
}

// lists reports whether Kafka lists a broker, fenced or not.
func (b *brokers) lists(ctx SpecContext, id int32) bool {
	GinkgoHelper()
	return slices.ContainsFunc(strings.Split(b.registered(ctx), ", "), func(broker string) bool {
		listed, _, _ := strings.Cut(broker, " ")
		return listed == fmt.Sprint(id)
	})
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

// keeps begins a phase in which a pool requests its nodes again, and waits until no broker leaves.
func (b *brokers) keeps(ctx SpecContext, name string, nodes int) *stage.Phase {
	GinkgoHelper()
	p := b.resized(ctx, name, nodes)
	b.awaiting(ctx, observation.LifecycleScaleDown, kraftscaledown.Steady, patience)
	p.End()
	return p
}

// processes returns the container in which each node runs, by pod.
func (b *brokers) processes(ctx SpecContext) map[string]string {
	GinkgoHelper()
	running := map[string]string{}
	for _, pod := range b.nodes(ctx) {
		Expect(pod.Status.ContainerStatuses).To(HaveLen(1), "containers of pod %s", pod.Name)
		running[pod.Name] = pod.Status.ContainerStatuses[0].ContainerID
	}
	return running
}

// configured returns the configurations that were set for a broker while it runs, as Kafka's own tool prints them. It asks that broker.
func (b *brokers) configured(ctx SpecContext, pool string, id int32) string {
	GinkgoHelper()
	return b.exec(ctx, podOf(pool, id), "/opt/kafka/bin/kafka-run-class.sh", "kafka.admin.ConfigCommand", "--bootstrap-server", "localhost:9092",
		"--describe", "--entity-type", "brokers", "--entity-name", fmt.Sprint(id))
}

// observers returns the ids that the quorum lists as its observers: brokers that are not controllers, for five minutes after their last
// fetch.
func (b *brokers) observers(ctx SpecContext) []int32 {
	GinkgoHelper()
	var ids []int32
	for _, columns := range b.replication(ctx) {
		if columns[len(columns)-1] == "Observer" {
			ids = append(ids, idOf(columns[0]))
		}
	}
	return ids
}

// lag returns by how many records a controller is behind the leader of the quorum.
func (b *brokers) lag(ctx SpecContext, controller string) int {
	GinkgoHelper()
	for _, columns := range b.replication(ctx) {
		if columns[0] == controller {
			records, err := strconv.Atoi(columns[len(columns)-4])
			Expect(err).NotTo(HaveOccurred(), columns)
			return records
		}
	}
	Fail("the quorum has no replica " + controller)
	return 0
}

// replication returns the columns of each replica of the quorum: the id is the first one, and the last ones are the lag, the times of the
// last fetch and of when it was last level with the leader, and whether it is the leader, a follower or an observer.
func (b *brokers) replication(ctx SpecContext) (rows [][]string) {
	GinkgoHelper()
	for line := range strings.Lines(b.kafkaTool(ctx, "org.apache.kafka.tools.MetadataQuorumCommand", "describe", "--replication")) {
		if columns := strings.Fields(line); len(columns) > 4 && columns[0] != "NodeId" {
			rows = append(rows, columns)
		}
	}
	return rows
}

// eraseAround deletes everything of the nodes of a pool except for their processes, as if they had never been there. What the
// processes need, their pods and claims, lose the labels by which the manager finds them, and their owners.
func (b *brokers) eraseAround(ctx SpecContext, pool string) {
	GinkgoHelper()
	selector := "--selector=strimzi.io/pool-name=" + pool
	out := kubectl(ctx, b.Scenario, "get", "pods,persistentvolumeclaims", selector, "--output=name")
	for object := range strings.FieldsSeq(out) {
		kubectl(ctx, b.Scenario, "patch", object, "--type=merge", `--patch={"metadata":{"labels":null,"ownerReferences":null}}`)
		if pod, ok := strings.CutPrefix(object, "pod/"); ok {
			b.Removed(pod)
		}
	}
	kubectl(ctx, b.Scenario, "delete", "strimzipodset/"+clusterName+"-"+pool)
	kubectl(ctx, b.Scenario, "delete", "configmaps", selector)
}

// removed says that the manager has removed nodes of a pool for good.
func (b *brokers) removed(ctx SpecContext, pool string, ids ...int32) {
	GinkgoHelper()
	left := b.nodes(ctx)
	for _, id := range ids {
		node := podOf(pool, id)
		Expect(slices.IndexFunc(left, func(pod corev1.Pod) bool { return pod.Name == node })).To(Equal(-1), "pod %s of a node that was removed", node)
		b.Removed(node)
	}
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
