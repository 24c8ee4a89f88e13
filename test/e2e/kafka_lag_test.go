//go:build e2e

package e2e

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
)

var _ = Describe("In the middle of an upgrade", Label("kafka"), func() {
	It("a controller that hangs and a broker that stays out of the ISR hold the roll, stall it, and end the wait themselves", SpecTimeout(25*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		managerWith(ctx, "--deadline-scale=0.1")
		b := install(ctx, s, separate(), "4.1.2", smallFetches)
		b.stream(ctx)
		b.throttle(ctx, "add")
		p := b.change(ctx, "4.3.1", "")
		DeferCleanup(func(ctx SpecContext) { Expect(cluster.Chaos(ctx, "undo")).To(Succeed()) })

		By("pausing the first controller as soon as it is ready, until it lags, before the manager has seen that it has caught up")
		entered(ctx, p, versionChange, roll.AwaitingReady, 1)
		moved, _ := p.Order()
		hanging, id := b.Namespace+"/"+moved[0], moved[0][strings.LastIndexByte(moved[0], '-')+1:]
		withoutManager(ctx, func() {
			GinkgoHelper()
			readyPod(ctx, s, moved[0])
			Expect(cluster.Chaos(ctx, "pause", hanging)).To(Succeed())
			Eventually(func() int { return b.lag(ctx, id) }).WithContext(ctx).WithTimeout(time.Minute).Should(BeNumerically(">=", 10), "records that controller %s is behind", id)
		})
		b.awaiting(ctx, versionChange, roll.AwaitingInSync, 3*time.Minute, "controller "+id+" has not caught up with the leader, controller ")
		b.says(ctx, 5*time.Minute, "Stalled=True", moved[0])
		b.noteWaits(ctx, "a controller that hangs")
		Expect(p.Starts()).To(Equal(map[string]int{moved[0]: 1}), "nodes restarted")
		Expect(cluster.Chaos(ctx, "resume", hanging)).To(Succeed())

		By("holding back the replication of a broker")
		b.says(ctx, patience, "Stalled=True", "is out of the ISR of stream-")
		b.noteWaits(ctx, "a broker out of the ISR")
		// A broker that was fast enough to miss nothing is not held back: then it is the next one.
		Expect(len(p.Starts())).To(BeNumerically("<", 6), "nodes restarted: not the broker after the one that is out of the ISR")
		b.throttle(ctx, "delete")

		b.settled(ctx, "4.3.1")
		p.End()
		Expect(p.Starts()).To(Equal(b.each(ctx, 1)), "starts of each node")
		Expect(p.MostDown()).To(Equal(1), "nodes down at once")
		b.finish(ctx)
	})
})

// smallFetches makes replicas fetch about two records at once. A replica that is throttled would fetch everything that it misses at
// once otherwise, because the throttle counts what was fetched.
func smallFetches(spec *kafkav1beta2.KafkaSpec) {
	for _, name := range []string{"replica.fetch.max.bytes", "replica.fetch.response.max.bytes"} {
		spec.Kafka.Config[name] = apiextensionsv1.JSON{Raw: []byte("200")}
	}
}

// throttle adds or deletes a limit of one byte per second to the replication of every replica of the stream that is out of the ISR, as
// an administrator does by hand.
func (b *brokers) throttle(ctx SpecContext, verb string) {
	GinkgoHelper()
	limit, replicas := "follower.replication.throttled.rate", "follower.replication.throttled.replicas"
	if verb == "add" {
		limit, replicas = limit+"=1", replicas+"=*"
	}
	b.kafkaTool(ctx, "kafka.admin.ConfigCommand", "--alter", "--entity-type", "brokers", "--entity-default", "--"+verb+"-config", limit)
	b.kafkaTool(ctx, "kafka.admin.ConfigCommand", "--alter", "--entity-type", "topics", "--entity-name", "stream", "--"+verb+"-config", replicas)
}

// kafkaTool runs a class of Kafka's own command line in a broker.
func (b *brokers) kafkaTool(ctx SpecContext, class string, args ...string) string {
	GinkgoHelper()
	for _, pod := range b.nodes(ctx) {
		if pod.Labels["strimzi.io/broker-role"] == "true" && ready(&pod) {
			server := clusterName + "-kafka-bootstrap:9092"
			return b.exec(ctx, pod.Name, append([]string{"/opt/kafka/bin/kafka-run-class.sh", class, "--bootstrap-server", server}, args...)...)
		}
	}
	Fail("no broker is ready")
	return ""
}

// noteWaits notes what the version change waits for.
func (b *brokers) noteWaits(ctx SpecContext, during string) {
	GinkgoHelper()
	k, err := b.get(ctx)
	Expect(err).NotTo(HaveOccurred())
	l := lifecycle(k, versionChange)
	for _, w := range l.WaitingFor {
		b.Note("%s, in %s: %s; %s", during, l.State, w.Expected, w.Observed)
	}
}
