//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/test/e2e/stage"
)

const (
	// clusterName of every Kafka here.
	clusterName = "events"
	// bootstrap is the argument of tools with the address of the Kafka.
	bootstrap = "--bootstrap=" + clusterName + "-kafka-bootstrap:9092"
	// versionChange is the lifecycle of a version change in the status of a Kafka.
	versionChange = "version"
	// patience with a machine that others use too: the whole of a version change.
	patience = 8 * time.Minute
)

// brokers is a Kafka of a scenario.
type brokers struct {
	*stage.Scenario
	// jobs is the number of pods that have run a tool once.
	jobs int
	// kills is how often the manager was killed.
	kills int
}

// pool is a KafkaNodePool to install.
type pool struct {
	name  string
	count int32
	roles []kafkav1beta2.NodeRole
	// deletesClaims deletes the claims of a node that is removed, so that its id can be used again.
	deletesClaims bool
}

// Roles of the nodes of a pool.
var (
	controllerRole = []kafkav1beta2.NodeRole{kafkav1beta2.RoleController}
	brokerRole     = []kafkav1beta2.NodeRole{kafkav1beta2.RoleBroker}
	bothRoles      = []kafkav1beta2.NodeRole{kafkav1beta2.RoleController, kafkav1beta2.RoleBroker}
)

// dual are three nodes in both roles.
func dual() []pool {
	return []pool{{name: "all", count: 3, roles: bothRoles}}
}

// separate are three controllers and three brokers.
func separate() []pool {
	return []pool{{name: "controllers", count: 3, roles: controllerRole}, {name: "brokers", count: 3, roles: brokerRole}}
}

// create a Kafka with pools. edit may change its spec.
func create(ctx SpecContext, s *stage.Scenario, pools []pool, version string, edit func(*kafkav1beta2.KafkaSpec)) *brokers {
	GinkgoHelper()
	for _, p := range pools {
		meta := kafkav1beta2.MetadataShared
		Expect(cluster.Client.Create(ctx, &kafkav1beta2.KafkaNodePool{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: p.name, Labels: map[string]string{"strimzi.io/cluster": clusterName}},
			Spec: kafkav1beta2.KafkaNodePoolSpec{
				Replicas: p.count, Roles: p.roles, JvmOptions: &kafkav1beta2.JvmOptions{Xms: "256m", Xmx: "256m"},
				Storage: kafkav1beta2.Storage{Type: "jbod", Volumes: []kafkav1beta2.Volume{
					{ID: 0, Type: "persistent-claim", Disk: kafkav1beta2.Disk{Size: "1Gi", KraftMetadata: meta, DeleteClaim: &p.deletesClaims}},
				}},
			},
		})).To(Succeed())
	}
	spec := kafkav1beta2.KafkaSpec{Kafka: kafkav1beta2.KafkaClusterSpec{
		Version:   version,
		Listeners: []kafkav1beta2.Listener{{Name: "plain", Port: 9092, Type: "internal"}},
		Config: map[string]apiextensionsv1.JSON{
			"log.cleaner.dedupe.buffer.size": {Raw: []byte("4194304")},
			"offsets.topic.num.partitions":   {Raw: []byte("3")},
		},
	}}
	if edit != nil {
		edit(&spec)
	}
	Expect(cluster.Client.Create(ctx, &kafkav1beta2.Kafka{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: clusterName, Annotations: map[string]string{"strimzi.io/node-pools": "enabled", "strimzi.io/kraft": "enabled"}},
		Spec:       spec,
	})).To(Succeed())
	return &brokers{Scenario: s}
}

// install a Kafka and wait until it is settled.
func install(ctx SpecContext, s *stage.Scenario, pools []pool, version string, edit func(*kafkav1beta2.KafkaSpec)) *brokers {
	GinkgoHelper()
	p := s.Phase("install " + version)
	b := create(ctx, s, pools, version, edit)
	b.settled(ctx, version)
	p.End()
	return b
}

// get the Kafka.
func (b *brokers) get(ctx context.Context) (*kafkav1beta2.Kafka, error) {
	k := &kafkav1beta2.Kafka{}
	return k, cluster.Client.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: clusterName}, k)
}

// edit the spec by a merge patch.
func (b *brokers) edit(ctx SpecContext, patch string) {
	GinkgoHelper()
	k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: clusterName}}
	Expect(cluster.Client.Patch(ctx, k, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}

// change begins a phase in which the spec wants another version, or another metadata version too.
func (b *brokers) change(ctx SpecContext, version, metadata string) *stage.Phase {
	GinkgoHelper()
	name := "to " + version
	if metadata != "" {
		name += " with metadata " + metadata
	}
	p := b.Phase(name)
	spec := map[string]any{"version": version, "metadataVersion": nil}
	if metadata != "" {
		spec["metadataVersion"] = metadata
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"kafka": spec}})
	Expect(err).NotTo(HaveOccurred())
	b.edit(ctx, string(patch))
	return p
}

// settled waits until everything is where the spec wants it.
func (b *brokers) settled(ctx SpecContext, version string) *kafkav1beta2.Kafka {
	GinkgoHelper()
	var k *kafkav1beta2.Kafka
	Eventually(func(g Gomega, ctx context.Context) {
		var err error
		k, err = b.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		holds(g, k, k.Status.Conditions, "Ready")
		holds(g, k, k.Status.Conditions, "VersionSettled")
		g.Expect(k.Status.KafkaVersion).To(Equal(version))
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed(), b.said(ctx))
	return k
}

// noteReady notes how long the Kafka took until now, when it is Ready, since what began the phase.
func (b *brokers) noteReady(p *stage.Phase, since string) {
	b.Note("Ready %.0f s after the %s", time.Since(p.Begun()).Seconds(), since)
}

// noteFirstStart notes how long it took in the phase until the first node was started.
func (b *brokers) noteFirstStart(p *stage.Phase, since string) {
	GinkgoHelper()
	at := p.FirstStart()
	Expect(at).NotTo(BeZero(), "when the first node was started")
	b.Note("first node restarted %.1f s after the %s", at.Sub(p.Begun()).Seconds(), since)
}

// said is what the status says, for a failure.
func (b *brokers) said(ctx context.Context) func() string {
	return said(func() (any, error) {
		k, err := b.get(ctx)
		return k.Status.Status, err
	})
}

// lifecycle returns the entry of a lifecycle, or an empty one.
func lifecycle(k *kafkav1beta2.Kafka, name string) lifecyclev1.Lifecycle {
	for _, l := range k.Status.Lifecycles {
		if l.Name == name {
			return l
		}
	}
	return lifecyclev1.Lifecycle{}
}

// awaiting waits until a lifecycle is in a state, and waits there for something that the status names.
func (b *brokers) awaiting(ctx SpecContext, name, state string, within time.Duration, words ...string) *kafkav1beta2.Kafka {
	GinkgoHelper()
	var k *kafkav1beta2.Kafka
	Eventually(func(g Gomega, ctx context.Context) {
		var err error
		k, err = b.get(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lifecycle(k, name).State).To(Equal(state))
		for _, word := range words {
			g.Expect(statement(k.Status.Conditions, k.Status.Lifecycles)).To(ContainSubstring(word))
		}
	}).WithContext(ctx).WithTimeout(within).Should(Succeed(), b.said(ctx))
	return k
}

// entered waits until the phase has seen a state of a lifecycle that often.
func entered(ctx SpecContext, p *stage.Phase, name, state string, times int) {
	GinkgoHelper()
	Eventually(func() int { return len(p.Entered(name, state)) }).WithContext(ctx).WithTimeout(patience).WithPolling(20*time.Millisecond).
		Should(BeNumerically(">=", times), "times that state %s of %s was entered", state, name)
}

// nodes lists the pods of the nodes, in order.
func (b *brokers) nodes(ctx SpecContext) []corev1.Pod {
	GinkgoHelper()
	pods := &corev1.PodList{}
	Expect(cluster.Client.List(ctx, pods, client.InNamespace(b.Namespace), client.MatchingLabels{"strimzi.io/cluster": clusterName}, client.HasLabels{"strimzi.io/broker-role"})).To(Succeed())
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods.Items
}

// each is the same number of starts for every node.
func (b *brokers) each(ctx SpecContext, starts int) map[string]int {
	want := map[string]int{}
	if starts > 0 {
		for _, pod := range b.nodes(ctx) {
			want[pod.Name] = starts
		}
	}
	return want
}

// rolled says that each node restarted once, never two at a time, and that the metadata level was raised last.
func (b *brokers) rolled(ctx SpecContext, p *stage.Phase) {
	GinkgoHelper()
	p.End()
	Expect(p.Starts()).To(Equal(b.each(ctx, 1)), "starts of each node")
	Expect(p.MostDown()).To(Equal(1), "nodes down at once")
	if raised := p.Entered(versionChange, kafkaversion.SettingMetadata); len(raised) > 0 {
		last := slices.MaxFunc(p.Outages(), func(a, b stage.Outage) int { return a.Until.Compare(b.Until) })
		Expect(raised).To(HaveLen(1), "the metadata level is set once")
		Expect(raised[0]).To(BeTemporally(">", last.Until), "when the metadata level is set: %s is restarted until then", last.Node)
	}
	b.quiet(p)
}

// quiet says that the status was written no more than once for each transition, once for each node and once for each killed manager.
func (b *brokers) quiet(p *stage.Phase) {
	GinkgoHelper()
	transitions, nodes := len(p.Steps("")), len(p.Starts())
	Expect(p.StatusWrites()).To(BeNumerically("<=", transitions+nodes+b.kills), "status writes, with %d transitions, %d nodes and %d kills", transitions, nodes, b.kills)
}

// exec runs a command in a pod's container.
func (b *brokers) exec(ctx SpecContext, pod string, command ...string) string {
	GinkgoHelper()
	out, err := cluster.Kubectl(ctx, append([]string{"exec", "--namespace=" + b.Namespace, pod, "--"}, command...)...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// stream starts a producer and a consumer, which run until finish.
func (b *brokers) stream(ctx SpecContext) {
	GinkgoHelper()
	pod := tool(b.Scenario, "stream", "stream", bootstrap)
	Expect(cluster.Client.Create(ctx, pod)).To(Succeed())
	Eventually(func(ctx context.Context) (string, error) {
		out, err := cluster.Clientset.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
		return string(out), err
	}).WithContext(ctx).Should(ContainSubstring("streaming"))
}

// finish ends the stream: no record may be lost, duplicated or out of order.
func (b *brokers) finish(ctx SpecContext) {
	GinkgoHelper()
	b.exec(ctx, "stream", "/tools", "finish")
	lines := strings.Split(result(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "stream"}}), "\n")
	b.Records = &stage.Records{}
	Expect(json.Unmarshal([]byte(lines[len(lines)-1]), b.Records)).To(Succeed(), "%s", lines)
	got, n := *b.Records, b.Records.Acknowledged
	got.SlowestMillis = 0
	whole := stage.Tally{Read: n}
	Expect(got).To(Equal(stage.Records{Acknowledged: n, While: whole, After: whole}))
	Expect(n).To(BeNumerically(">", 1000), "records acknowledged")
}
