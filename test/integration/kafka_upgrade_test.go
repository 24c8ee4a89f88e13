package integration

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/test/lab"
)

// layout of a cluster's nodes.
type layout struct {
	name                            string
	controllers, brokers, dualRoles int
}

func (l layout) pools(key client.ObjectKey) []client.Object {
	var out []client.Object
	for _, pool := range []*kafkav1beta2.KafkaNodePool{
		poolOf(key, "c", l.controllers, controllerRole), poolOf(key, "b", l.brokers, brokerRole), poolOf(key, "d", l.dualRoles, controllerRole, brokerRole),
	} {
		if pool.Spec.Replicas > 0 {
			out = append(out, pool)
		}
	}
	return out
}

var _ = Describe("a version change of Kafka", func() {
	for _, l := range []layout{
		{name: "three nodes of both roles", dualRoles: 3},
		{name: "three controllers and three brokers", controllers: 3, brokers: 3},
	} {
		It("restarts each node once and raises the level once: "+l.name, func(ctx SpecContext) {
			sc := newScene(ctx, clusters{}, nil)
			key := client.ObjectKey{Namespace: sc.namespace, Name: "orders"}
			for _, o := range append(l.pools(key), kafkaOf(key.Namespace, key.Name, old, "", 3)) {
				Expect(admin.Create(ctx, o)).To(Succeed())
			}
			sc.start(nil)
			sc.rest()
			sc.settle()

			film := filmed(ctx, key)
			nodes := len(outside.born.sequence(key, 0))
			Expect(nodes).To(Equal(l.controllers + l.brokers + l.dualRoles))
			outside.born.watchAway(key)
			var epoch int64
			leader := kafka.None
			outside.ask(key, func(c *kafka.Cluster) { epoch, leader = c.FeatureEpoch, c.Leader })
			writes := len(bench.Traffic.Of(sc.namespace, lab.OnStatus(key.Name), lab.Request.Done))
			sc.editNamed(key.Name, func(o lifecycle.Object) { kafkaIn(o).Spec.Kafka.Version = newer })
			sc.rest()
			sc.settle()

			restarted := outside.born.sequence(key, nodes)
			Expect(outside.born.of(key)).To(HaveEach(HaveSuffix("made 2 times")), "%q", restarted)
			Expect(outside.born.away(key)).To(Equal(1), "the most nodes away at once")
			if l.controllers > 0 {
				Expect(restarted[:l.controllers]).To(HaveEach(HavePrefix("orders-c-")), "controllers first: %q", restarted)
			}
			Expect(restarted[max(l.controllers, l.dualRoles)-1]).To(HaveSuffix(fmt.Sprintf("-%d", leader)), "the active controller last: %q", restarted)
			Expect(featureEpoch(key)).To(Equal(epoch+1), "the level is raised once")

			pictures := film.cut(kafkaIn(sc.object(key.Name)))
			path := statesIn(pictures, observation.LifecycleVersion)
			Expect(slices.Index(path, "SettingMetadata")).To(BeNumerically(">", lastIndex(path, "RestartingNode")), "%q", path)
			Expect(untruths(pictures)).To(BeEmpty())
			Expect(writesPerTransition(pictures, projectionPause)).To(BeEmpty())
			shown := len(bench.Traffic.Of(sc.namespace, lab.OnStatus(key.Name), lab.Request.Done)) - writes
			note("kafka, %s: %d transitions of the version change, %d status writes; restarted in the order %s", l.name, len(path)-1, shown, strings.Join(restarted, " "))
		}, NodeTimeout(2*timeLimit))
	}
})

func lastIndex(all []string, one string) int {
	last := -1
	for i, s := range all {
		if s == one {
			last = i
		}
	}
	return last
}
