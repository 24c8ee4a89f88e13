//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
)

// fatal is a setting with a value with which no node starts.
const fatal = "queued.max.requests"

var _ = Describe("An outage", Label("kafka"), func() {
	// A roll stops at its first node, and a lost node returns as it last ran. So all nodes start with such a configuration only if the
	// Kafka is applied again on the disks of a deleted one.
	It("of all nodes by a configuration is ended by the spec alone", SpecTimeout(25*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.1.2", nil)
		Expect(work(ctx, s, "produce", "produce", bootstrap, "--count=100", "--replicas=3")).To(Equal("acknowledged 100"))
		p := b.Phase("a configuration with which no node starts")
		b.edit(ctx, fmt.Sprintf(`{"spec":{"kafka":{"config":{%q:0}}}}`, fatal))
		b.awaiting(ctx, observation.LifecycleRoll, roll.AwaitingReady, patience, "container kafka died", fatal)
		p.End()
		Expect(p.Starts()).To(HaveLen(1), "nodes restarted")
		Expect(p.MostDown()).To(Equal(1), "nodes down at once")

		p = b.Phase("it is deleted and applied again with that configuration, on the same disks")
		b.applyAgain(ctx)
		b.crashed(ctx, 3)
		p.End()
		Expect(p.MostDown()).To(Equal(3), "nodes down at once")

		p = b.Phase("it is corrected")
		b.edit(ctx, fmt.Sprintf(`{"spec":{"kafka":{"config":{%q:null}}}}`, fatal))
		b.settled(ctx, "4.1.2")
		b.noteReady(p, "correction")
		Expect(work(ctx, s, "consume", "consume", bootstrap, "--count=100")).To(Equal("read 100, seen again 0"))
	})

	It("of a first install that cannot start is ended by another configuration and an older version", SpecTimeout(15*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		p := s.Phase("a first install that cannot start")
		b := create(ctx, s, dual(), "4.3.1", func(spec *kafkav1beta2.KafkaSpec) {
			spec.Kafka.Config[fatal] = apiextensionsv1.JSON{Raw: []byte("0")}
		})
		Eventually(func() map[string]int { return p.Starts() }).WithContext(ctx).WithTimeout(patience).Should(HaveLen(3), "nodes that were started")
		s.Phase("it is corrected, and asks for an older version")
		b.edit(ctx, fmt.Sprintf(`{"spec":{"kafka":{"version":"4.1.2","config":{%q:null}}}}`, fatal))
		k := b.settled(ctx, "4.1.2")
		Expect(k.Status.KafkaMetadataVersion).To(Equal("4.1-IV1"))
		Expect(work(ctx, s, "produce", "produce", bootstrap, "--count=100", "--replicas=3")).To(Equal("acknowledged 100"))
		Expect(work(ctx, s, "consume", "consume", bootstrap, "--count=100")).To(Equal("read 100, seen again 0"))
	})

	// Kafka takes this value while it runs: it does not count in the names of the nodes' files, and its change restarts nothing.
	It("of a first install by a value that restarts no node is ended by the spec alone", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		const property = "log.cleanup.policy"
		s := scenario(ctx)
		p := s.Phase("a first install that cannot start")
		b := create(ctx, s, dual(), "4.3.1", func(spec *kafkav1beta2.KafkaSpec) {
			spec.Kafka.Config[property] = apiextensionsv1.JSON{Raw: []byte(`"compct"`)}
		})
		b.awaiting(ctx, versionChange, roll.AwaitingReady, patience, "died", property)
		p.End()
		p = s.Phase("it is corrected")
		b.edit(ctx, fmt.Sprintf(`{"spec":{"kafka":{"config":{%q:"delete"}}}}`, property))
		b.settled(ctx, "4.3.1")
		b.noteReady(p, "correction")
		Expect(work(ctx, s, "produce", "produce", bootstrap, "--count=100", "--replicas=3")).To(Equal("acknowledged 100"))
		Expect(work(ctx, s, "consume", "consume", bootstrap, "--count=100")).To(Equal("read 100, seen again 0"))
	})

	It("of a disk that comes back empty holds until its formatting is approved", SpecTimeout(15*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		b := install(ctx, s, dual(), "4.1.2", nil)
		b.stream(ctx)
		const name = "events-all-1"
		p := s.Phase("a disk is empty")
		b.exec(ctx, name, "sh", "-c", "rm -rf /var/lib/kafka/data-0/*")
		b.remove(ctx, name)
		k := b.awaiting(ctx, observation.LifecycleStorage, nodestorage.StorageLost, 3*time.Minute, name, "detent.dev/approve=format-storage=")
		pass(ctx, 20*time.Second) // the stream continues with two nodes
		pod := &corev1.Pod{}
		Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: name}, pod)).To(Succeed())
		Expect(pod.Status.ContainerStatuses[0].State.Running).To(BeNil(), "the process of the node, whose disk is empty")
		Expect(p.MostDown()).To(Equal(1), "nodes down at once")
		p.End()

		s.Phase("the formatting is approved")
		attempt := lifecycle(k, observation.LifecycleStorage).Attempt.ID
		b.edit(ctx, fmt.Sprintf(`{"metadata":{"annotations":{"detent.dev/approve":"format-storage=%s/%s"}}}`, attempt, name))
		b.settled(ctx, "4.1.2")
		b.finish(ctx)
	})
})

var _ = Describe("In the middle of a roll", Label("kafka"), func() {
	It("a restart of the API server and a minute without Kafka restart nothing twice", SpecTimeout(20*time.Minute), func(ctx SpecContext) {
		s := scenario(ctx)
		// The node that is being restarted waits for the others longer than they hang: it would end its process after a minute.
		b := install(ctx, s, dual(), "4.1.2", func(spec *kafkav1beta2.KafkaSpec) {
			spec.Kafka.Config["initial.broker.registration.timeout.ms"] = apiextensionsv1.JSON{Raw: []byte("600000")}
		})
		b.stream(ctx)
		p := b.change(ctx, "4.3.1", "")
		DeferCleanup(func(ctx SpecContext) { Expect(cluster.Chaos(ctx, "undo")).To(Succeed()) })
		entered(ctx, p, versionChange, roll.RestartingNode, 1)
		restartAPIServer(ctx)
		b.awaiting(ctx, versionChange, roll.AwaitingReady, patience)
		Eventually(p.MostDown).WithContext(ctx).Should(Equal(1), "nodes down at once")
		resume := b.pauseReady(ctx)
		Consistently(p.Starts).WithContext(ctx).WithTimeout(time.Minute).
			Should(HaveLen(1), "nodes that are started while the others hang")
		resume()
		Eventually(func() int {
			return len(slices.DeleteFunc(b.nodes(ctx), func(pod corev1.Pod) bool { return ready(&pod) }))
		}).WithContext(ctx).WithTimeout(patience).Should(BeNumerically("<=", 1), "nodes that are not ready because they were paused")
		rest := b.Phase("Kafka answers again")
		b.settled(ctx, "4.3.1")
		rest.End()
		Expect(rest.MostDown()).To(Equal(1), "nodes down at once")
		starts := p.Starts()
		for pod, more := range rest.Starts() {
			starts[pod] += more
		}
		Expect(starts).To(Equal(b.each(ctx, 1)), "starts of each node")
		b.finish(ctx)
	})
})
