package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/ceph/pods"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// speed is the number of simulated seconds per second.
const speed = 20

// simulated is the world behind the control plane: kubelets, disks and Kafka clusters. It outlives every operator.
type simulated struct {
	*simulator.World
	table  *versions.Table
	script *script
	born   *births
	ceph   *cephSites
	cancel context.CancelFunc
	ended  chan error
}

// outside is the simulated world of the specs, one for the suite.
var outside *simulated

// startWorld runs the simulated world with the control plane until the suite ends.
func startWorld(ctx context.Context, config *rest.Config, scheme *k8sruntime.Scheme) {
	GinkgoHelper()
	table, err := versions.Embedded()
	Expect(err).NotTo(HaveOccurred())
	w := &simulated{table: table, born: newBirths(), ceph: newCephSites(), ended: make(chan error, 1)}
	options := simulator.Options{Table: table, Topics: []simulator.Topic{{Name: "orders", Partitions: 3}}}
	w.World = simulator.NewWorld(options, clock.RealClock{}, speed)
	w.SetScript(simulator.Script{BadImages: []string{badComponent}})
	w.script = &script{world: w.World, never: map[types.NamespacedName]bool{}, crashing: map[types.NamespacedName]bool{}}
	w.born.script = w.script
	mgr, err := ctrl.NewManager(rest.CopyConfig(config), ctrl.Options{
		Scheme: scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"}, GracefulShutdownTimeout: new(time.Second),
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(kubelet.CreateNodes(ctx, admin, time.Now(), "node-1", "node-2", "node-3")).To(Succeed())
	Expect(kubelet.SetupWithManager(mgr, w.World)).To(Succeed())
	Expect(pods.SetupWithManager(mgr, clock.RealClock{}, w.ceph.running)).To(Succeed())
	running, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	informer, err := mgr.GetCache().GetInformer(ctx, &corev1.Pod{})
	Expect(err).NotTo(HaveOccurred())
	_, err = informer.AddEventHandler(w.born)
	Expect(err).NotTo(HaveOccurred())
	go func() { w.ended <- mgr.Start(running) }()
	go func() {
		defer GinkgoRecover()
		Expect(w.Run(running)).To(Succeed())
	}()
	Expect(mgr.GetCache().WaitForCacheSync(ctx)).To(BeTrue())
	outside = w
}

func (w *simulated) stop() {
	w.cancel()
	<-w.ended //nolint:errcheck // it ends because its context was cancelled
	w.Close()
}

// script is the failures of pods, entry by entry.
type script struct {
	mu    sync.Mutex
	world *simulator.World
	never map[types.NamespacedName]bool
	// crashing are pods whose process exits as soon as it has started.
	crashing map[types.NamespacedName]bool
}

// neverReady makes a pod fail its probe, or pass it again.
func (s *script) neverReady(pod types.NamespacedName, never bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if never {
		s.never[pod] = true
	} else {
		delete(s.never, pod)
	}
	s.set()
}

// crash makes the process of a pod crash repeatedly, or run again.
func (s *script) crash(pod types.NamespacedName, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if yes {
		s.crashing[pod] = true
	} else {
		delete(s.crashing, pod)
	}
	s.set()
}

// set applies the script. The caller must hold s.mu.
func (s *script) set() {
	all := simulator.Script{FailingProbes: slices.Collect(maps.Keys(s.never)), BadImages: []string{badComponent}}
	for pod := range s.crashing {
		all.Crashes = append(all.Crashes, simulator.Crash{NamespacedName: pod, Words: "crashed by a test"})
	}
	s.world.SetScript(all)
}

// births are the pods that ever existed.
type births struct {
	mu   sync.Mutex
	pods map[client.ObjectKey]map[types.UID]bool
	// missing are the pods missing now, and the most ever, of clusters that are watched.
	missing map[client.ObjectKey]map[string]bool
	most    map[client.ObjectKey]int
	// stunted are clusters whose new pods never become ready.
	stunted map[client.ObjectKey]bool
	script  *script
	// order in which they were first seen.
	order []birth
}

func newBirths() *births {
	return &births{
		stunted: map[client.ObjectKey]bool{},
		pods:    map[client.ObjectKey]map[types.UID]bool{}, missing: map[client.ObjectKey]map[string]bool{}, most: map[client.ObjectKey]int{},
	}
}

type birth struct {
	client.ObjectKey
	uid     types.UID
	cluster string
}

var _ toolscache.ResourceEventHandler = &births{}

// OnAdd implements ResourceEventHandler.
func (b *births) OnAdd(object any, _ bool) { b.see(object) }

// OnUpdate implements ResourceEventHandler.
func (b *births) OnUpdate(_, object any) { b.see(object) }

// OnDelete implements ResourceEventHandler.
func (b *births) OnDelete(object any) {
	if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.serves(pod, false)
	}
}

// watchAway starts to count how many nodes of the cluster are away at once. All must be serving now.
func (b *births) watchAway(cluster client.ObjectKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.missing[cluster] = map[string]bool{}
	b.most[cluster] = 0
}

// away is the maximum number of nodes that were away at once since then.
func (b *births) away(cluster client.ObjectKey) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.most[cluster]
}

// serves records whether a pod is serving. The caller must hold b.mu.
func (b *births) serves(pod *corev1.Pod, yes bool) {
	cluster := client.ObjectKey{Namespace: pod.Namespace, Name: pod.Labels[labels.Cluster]}
	missing := b.missing[cluster]
	if missing == nil {
		return
	}
	if yes {
		delete(missing, pod.Name)
	} else {
		missing[pod.Name] = true
	}
	b.most[cluster] = max(b.most[cluster], len(missing))
}

func (b *births) see(object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serves(pod, pod.DeletionTimestamp == nil && isReady(pod))
	cluster := client.ObjectKey{Namespace: pod.Namespace, Name: pod.Labels[labels.Cluster]}
	key := client.ObjectKeyFromObject(pod)
	if b.pods[key] == nil {
		b.pods[key] = map[types.UID]bool{}
	}
	if !b.pods[key][pod.UID] {
		b.pods[key][pod.UID] = true
		if b.stunted[cluster] {
			b.script.neverReady(key, true)
		}
		b.order = append(b.order, birth{ObjectKey: key, uid: pod.UID, cluster: cluster.Name})
	}
}

// counts is how often each of the cluster's pods was created.
func (b *births) counts(cluster client.ObjectKey) map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	counts := map[string]int{}
	for _, one := range b.order {
		if one.Namespace == cluster.Namespace && one.cluster == cluster.Name {
			counts[one.Name]++
		}
	}
	return counts
}

// of formats how often each of the cluster's pods was created.
func (b *births) of(cluster client.ObjectKey) []string {
	counts := b.counts(cluster)
	var out []string
	for _, name := range sortedKeys(counts) {
		out = append(out, fmt.Sprintf("pod %s was made %d times", name, counts[name]))
	}
	return out
}

// stunt prevents pods of the cluster that are created from now on from becoming ready, or permits it again.
func (b *births) stunt(cluster client.ObjectKey, yes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stunted[cluster] = yes
}

// sequence is the names of the cluster's pods in the order in which they were created, starting at index from.
func (b *births) sequence(cluster client.ObjectKey, from int) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, one := range b.order {
		if one.Namespace == cluster.Namespace && one.cluster == cluster.Name {
			out = append(out, one.Name)
		}
	}
	return out[min(from, len(out)):]
}

// ask reads or scripts the simulated Kafka of a cluster.
func (w *simulated) ask(cluster client.ObjectKey, fn func(*kafka.Cluster)) {
	w.Do(cluster, func(c *kafka.Cluster, _ int64) { fn(c) })
}
