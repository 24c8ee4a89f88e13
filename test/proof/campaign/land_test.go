package campaign_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// speed is the number of simulated seconds per second.
const speed = 20

// lands are the simulated pods, disks and Kafka clusters, by namespace. The time of one advances only when it is accessed, and
// none listens on a socket, so that a thousand of them cost little.
type lands struct {
	table    *versions.Table
	timeline kubelet.Timeline
	// admin reads disruption budgets.
	admin client.Reader
	mu    sync.Mutex
	all   map[string]*land
	// ceph are the simulated Ceph clusters.
	ceph *cephLands
}

var _ kubelet.World = &lands{}

type land struct {
	mu    sync.Mutex
	state *simulator.State
	// moved are the levels that were requested and granted, and the brokers that were cordoned and unregistered, in order. harm is what was
	// wrong at any time.
	moved, harm []string
	// needed are the nodes that must not be disrupted, by id, and taken the pods that were to be removed.
	needed map[int32]needed
	taken  map[types.UID]bool
	// removing is true while brokers are removed: a node is taken away for that alone.
	removing bool
}

func newLands() (*lands, error) {
	table, err := releases()
	return &lands{table: table, timeline: kubelet.Timeline{Epoch: time.Now(), Speed: speed}, all: map[string]*land{}, ceph: &cephLands{all: map[string]*cephLand{}}}, err
}

func (w *lands) begin(namespace string) *land {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := &land{state: simulator.New(simulator.Options{Table: w.table, Topics: []simulator.Topic{{Name: "orders", Partitions: 3}}}, w.timeline)}
	w.all[namespace] = l
	return l
}

func (w *lands) end(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, namespace)
}

func (w *lands) of(namespace string) *land {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all[namespace]
}

// now advances the land's time and calls do there. It does nothing in a namespace that was closed.
func (w *lands) now(namespace string, do func(*land)) {
	l := w.of(namespace)
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Tick(max(l.state.Now, 1+w.timeline.Milliseconds(time.Now())))
	do(l)
	l.inspect()
}

// inspect checks that no process runs that cannot read the finalized level, and records which nodes are needed.
func (l *land) inspect() {
	l.judgeServing()
	l.judgeLeaders()
	for _, c := range l.state.Clusters() {
		level := c.Kafka.Level(kafkaclient.MetadataVersion)
		for _, n := range c.Kafka.Nodes {
			binary := c.Kafka.Binaries[n.Binary]
			for _, f := range binary.Features {
				if n.Process != kafka.Stopped && f.Name == kafkaclient.MetadataVersion && level > f.Max {
					l.harm = append(l.harm, fmt.Sprintf("node %d runs %s, which reads levels up to %d, and %d is finalized", n.ID, binary.Version, f.Max, level))
				}
			}
			if n.Process == kafka.Dead {
				l.harm = append(l.harm, fmt.Sprintf("the process of node %d died: %s", n.ID, n.LastWords))
			}
		}
	}
}

// NeedsMounts implements kubelet.World.
func (w *lands) NeedsMounts(pod types.NamespacedName, uid types.UID) (needs bool) {
	w.now(pod.Namespace, func(l *land) { needs = l.state.Pods().NeedsMounts(pod, uid) })
	return needs
}

// SyncPod implements kubelet.World. A pod that was evicted is removed only after the disruption controller has observed the
// eviction. A process takes seconds to end; if the pod were back before, that controller would expect its removal for two
// minutes and grant no eviction.
func (w *lands) SyncPod(pod *corev1.Pod, mounts kubelet.Mounts, nodes []kubelet.Node) (out kubelet.Outcome) {
	unseen := pod.DeletionTimestamp != nil && w.isToGo(pod)
	nodes = slices.DeleteFunc(nodes, func(n kubelet.Node) bool { return !strings.HasPrefix(n.Name, pod.Namespace+"-") })
	w.now(pod.Namespace, func(l *land) {
		if pod.DeletionTimestamp != nil {
			l.take(pod)
		}
		if unseen {
			out.Next = l.state.Now + lookAgain
			return
		}
		out = l.state.Sync(pod, mounts, nodes)
	})
	return out
}

// lookAgain is the number of simulated milliseconds until a budget is read again.
const lookAgain = 1000

// isToGo reports whether a disruption budget expects the removal of the pod.
func (w *lands) isToGo(pod *corev1.Pod) bool {
	budgets := &policyv1.PodDisruptionBudgetList{}
	if w.admin.List(context.Background(), budgets, client.InNamespace(pod.Namespace)) != nil {
		return false // a budget that cannot be read delays nothing
	}
	return slices.ContainsFunc(budgets.Items, func(b policyv1.PodDisruptionBudget) bool {
		_, listed := b.Status.DisruptedPods[pod.Name]
		return listed
	})
}

// PodGone implements kubelet.World.
func (w *lands) PodGone(pod types.NamespacedName) {
	w.now(pod.Namespace, func(l *land) { l.state.Gone(pod) })
}

// DiskGone implements kubelet.World. No disk is removed in these runs.
func (w *lands) DiskGone(types.UID) {}

// Until implements kubelet.World.
func (w *lands) Until(ms int64) time.Duration { return max(0, time.Until(w.timeline.Time(ms-1))) }

// caller calls the Kafka of one cluster without a network.
type caller struct {
	lands   *lands
	cluster types.NamespacedName
	around  func(string, func() error) error
}

var _ kafkaclient.Client = &caller{}

func asked[T any](c *caller, ask func(kafka.Memory) (T, error)) (out T, err error) {
	err = kafka.ErrUnreachable
	c.lands.now(c.cluster.Namespace, func(l *land) { out, err = ask(kafka.Memory{Cluster: l.state.Cluster(c.cluster).Kafka}) })
	return out, err
}

// Features implements kafkaclient.Reader.
func (c *caller) Features(ctx context.Context, supportedBy ...int32) (kafkaclient.Features, error) {
	return asked(c, func(m kafka.Memory) (kafkaclient.Features, error) { return m.Features(ctx, supportedBy...) })
}

// Brokers implements kafkaclient.Reader.
func (c *caller) Brokers(ctx context.Context) (kafkaclient.Brokers, error) {
	return asked(c, func(m kafka.Memory) (kafkaclient.Brokers, error) { return m.Brokers(ctx) })
}

// Quorum implements kafkaclient.Reader.
func (c *caller) Quorum(ctx context.Context) (kafkaclient.Quorum, error) {
	return asked(c, func(m kafka.Memory) (kafkaclient.Quorum, error) { return m.Quorum(ctx) })
}

// Partitions implements kafkaclient.Reader.
func (c *caller) Partitions(ctx context.Context) (kafkaclient.Partitions, error) {
	return asked(c, func(m kafka.Memory) (kafkaclient.Partitions, error) { return m.Partitions(ctx) })
}

// LogDirs implements kafkaclient.Reader.
func (c *caller) LogDirs(ctx context.Context, broker int32) (kafkaclient.LogDirs, error) {
	return asked(c, func(m kafka.Memory) (kafkaclient.LogDirs, error) { return m.LogDirs(ctx, broker) })
}

// Replicas implements kafkaclient.Reader.
func (c *caller) Replicas(ctx context.Context, broker int32) (kafkaclient.Replicas, error) {
	return asked(c, func(m kafka.Memory) (kafkaclient.Replicas, error) { return m.Replicas(ctx, broker) })
}

// Reassignments implements kafkaclient.Reader.
func (c *caller) Reassignments(ctx context.Context) (kafkaclient.Reassignments, error) {
	return asked(c, func(m kafka.Memory) (kafkaclient.Reassignments, error) { return m.Reassignments(ctx) })
}

// BrokerConfigs implements kafkaclient.Reader.
func (c *caller) BrokerConfigs(ctx context.Context, broker int32) (kafkaclient.Configs, error) {
	return asked(c, func(m kafka.Memory) (kafkaclient.Configs, error) { return m.BrokerConfigs(ctx, broker) })
}

// Settings implements kafkaclient.Reader.
func (c *caller) Settings(ctx context.Context, broker int32) (kafkaclient.Settings, error) {
	return asked(c, func(m kafka.Memory) (kafkaclient.Settings, error) { return m.Settings(ctx, broker) })
}

// Member implements kafkaclient.Reader.
func (c *caller) Member(ctx context.Context, node int32) (kafkaclient.Member, error) {
	return asked(c, func(m kafka.Memory) (kafkaclient.Member, error) { return m.Member(ctx, node) })
}

// UpdateFeature implements kafkaclient.Writer.
func (c *caller) UpdateFeature(ctx context.Context, update kafkaclient.FeatureUpdate) error {
	what := fmt.Sprintf("%s %s to %d", update.Kind, update.Name, update.Level)
	return c.around(string(update.Kind)+" "+update.Name, func() error {
		_, err := asked(c, func(m kafka.Memory) (struct{}, error) {
			epoch := m.Cluster.FeatureEpoch
			err := m.UpdateFeature(ctx, update)
			if m.Cluster.FeatureEpoch != epoch {
				l := c.lands.of(c.cluster.Namespace)
				l.moved = append(l.moved, what)
			}
			return struct{}{}, err
		})
		return err
	})
}

// Reassign implements kafkaclient.Writer.
func (c *caller) Reassign(ctx context.Context, moves []kafkaclient.Move) error {
	return c.around("move replicas", func() error {
		_, err := asked(c, func(m kafka.Memory) (struct{}, error) { return struct{}{}, m.Reassign(ctx, moves) })
		return err
	})
}

// Cordon implements kafkaclient.Writer.
func (c *caller) Cordon(ctx context.Context, cordon kafkaclient.Cordon) error {
	return c.around("cordon a broker", func() error {
		_, err := asked(c, func(m kafka.Memory) (struct{}, error) {
			before := m.Cluster.Cordoned
			err := m.Cordon(ctx, cordon)
			if after := m.Cluster.Cordoned; !slices.Equal(before, after) {
				l := c.lands.of(c.cluster.Namespace)
				l.moved = append(l.moved, fmt.Sprintf("cordoned brokers %v", after))
			}
			return struct{}{}, err
		})
		return err
	})
}

// Alter implements kafkaclient.Writer.
func (c *caller) Alter(ctx context.Context, alterations []kafkaclient.Alteration) error {
	return c.around("alter configurations", func() error {
		_, err := asked(c, func(m kafka.Memory) (struct{}, error) {
			before := m.Cluster.Dynamic
			err := m.Alter(ctx, alterations)
			if after := m.Cluster.Dynamic; !slices.Equal(before, after) {
				l := c.lands.of(c.cluster.Namespace)
				l.moved = append(l.moved, fmt.Sprintf("dynamic values %v", after))
			}
			return struct{}{}, err
		})
		return err
	})
}

// UnregisterBroker implements kafkaclient.Writer.
func (c *caller) UnregisterBroker(ctx context.Context, broker int32) error {
	return c.around("unregister a broker", func() error {
		_, err := asked(c, func(m kafka.Memory) (struct{}, error) {
			l := c.lands.of(c.cluster.Namespace)
			if n, _ := m.Cluster.Node(broker); n.Up() {
				l.harm = append(l.harm, fmt.Sprintf("broker %d was asked to be unregistered while its process ran", broker))
			}
			if held := replicasOn(m.Cluster, broker); held > 0 {
				l.harm = append(l.harm, fmt.Sprintf("broker %d was asked to be unregistered while it held replicas of %d partitions", broker, held))
			}
			err := m.UnregisterBroker(ctx, broker)
			if err == nil {
				l.moved = append(l.moved, fmt.Sprintf("broker %d unregistered", broker))
			}
			return struct{}{}, err
		})
		return err
	})
}
