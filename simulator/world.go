package simulator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kafka/wire"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// World is a State that advances with a clock and is served on loopback sockets, for operators that run as separate
// processes. It is safe for concurrent use.
type World struct {
	clock clock.WithTicker

	mu    sync.Mutex
	state *State
	// servers of the clusters. Each owns the Kafka of its cluster, which may be accessed only within Do.
	servers map[types.NamespacedName]*wire.Server
	turn    map[types.NamespacedName]int
	failure error
	closed  bool
}

var _ kubelet.World = (*World)(nil)

// NewWorld returns a world without clusters and pods. speed is the number of simulated seconds per second of the clock.
// The caller must call Close.
func NewWorld(options Options, clk clock.WithTicker, speed float64) *World {
	timeline := kubelet.Timeline{Epoch: clk.Now(), Speed: speed}
	return &World{
		clock: clk, state: New(options, timeline), servers: map[types.NamespacedName]*wire.Server{}, turn: map[types.NamespacedName]int{},
	}
}

// beat is the interval at which a World advances.
const beat = 100 * time.Millisecond

// Run advances the world until the context ends. It fails if a listener cannot be opened.
func (w *World) Run(ctx context.Context) error {
	tick := w.clock.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C():
		}
		if err := w.tick(); err != nil {
			return err
		}
	}
}

func (w *World) tick() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onTime()
	for _, c := range w.state.clusters {
		w.within(c.NamespacedName, func() { w.state.tick(c) })
	}
	return w.failure
}

// onTime advances the state's time. The caller must hold w.mu.
func (w *World) onTime() {
	w.state.Now = max(w.state.Now, 1+w.state.Timeline.Milliseconds(w.clock.Now()))
}

// within runs fn with exclusive access to the cluster, and updates its listeners. The caller must hold w.mu.
func (w *World) within(name types.NamespacedName, fn func()) {
	server := w.servers[name]
	if server == nil {
		c := w.state.Cluster(name)
		var err error
		if server, err = wire.NewServer(c.Kafka, nil); err != nil {
			w.fail(name, err)
			return
		}
		w.servers[name] = server
	}
	if err := server.Do(func(*kafka.Cluster) { fn() }); err != nil && !w.closed {
		w.fail(name, err)
	}
}

func (w *World) fail(name types.NamespacedName, err error) {
	w.failure = errors.Join(w.failure, fmt.Errorf("serving the simulated Kafka %s: %w", name, err))
}

// NeedsMounts implements kubelet.World.
func (w *World) NeedsMounts(pod types.NamespacedName, uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state.pods.NeedsMounts(pod, uid)
}

// SyncPod implements kubelet.World.
func (w *World) SyncPod(pod *corev1.Pod, mounts kubelet.Mounts, nodes []kubelet.Node) kubelet.Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onTime()
	var out kubelet.Outcome
	sync := func() { out = w.state.Sync(pod, mounts, nodes) }
	name, isKafka := ClusterOf(pod)
	if known, found := w.state.pods.Find(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}); found && !isKafka {
		name, isKafka = types.NamespacedName{Namespace: known.Namespace, Name: known.Group}, known.Group != ""
	}
	if isKafka {
		w.within(name, sync)
	} else {
		sync()
	}
	return out
}

// PodGone implements kubelet.World.
func (w *World) PodGone(pod types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onTime()
	known, found := w.state.pods.Find(pod)
	switch {
	case !found:
	case known.Group != "":
		w.within(types.NamespacedName{Namespace: known.Namespace, Name: known.Group}, func() { w.state.Gone(pod) })
	default:
		w.state.Gone(pod)
	}
}

// DiskGone implements kubelet.World.
func (w *World) DiskGone(claim types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.state.clusters {
		w.within(c.NamespacedName, func() {
			w.state.drop(c, func(d *disk) bool { return d.claim == claim })
		})
	}
}

// Until implements kubelet.World.
func (w *World) Until(ms int64) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(0, w.state.Timeline.Time(ms-1).Sub(w.clock.Now()))
}

// Do runs fn on the simulated Kafka of the name, for scripting failures. fn must not retain it.
func (w *World) Do(name types.NamespacedName, fn func(c *kafka.Cluster, now int64)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onTime()
	w.within(name, func() {
		c := w.state.Cluster(name)
		w.state.tick(c)
		fn(c.Kafka, w.state.Now)
	})
}

// CanPull implements kubelet.Registry.
func (w *World) CanPull(image string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state.CanPull(image)
}

// SetScript replaces the scripted failures of pods.
func (w *World) SetScript(script Script) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Script = script.clone()
}

// Age calls kubelet.Pods.Age.
func (w *World) Age(pod types.NamespacedName, by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.pods.Age(pod, by)
}

// Snapshot returns a copy of the whole state at the current time.
func (w *World) Snapshot() *State {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onTime()
	copied := *w.state
	copied.clusters = nil
	snapshot := copied.Clone()
	for _, c := range w.state.clusters {
		w.within(c.NamespacedName, func() {
			w.state.tick(c)
			snapshot.clusters = append(snapshot.clusters, c.clone())
		})
	}
	return snapshot
}

// Close closes every connection and every listener.
func (w *World) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, server := range w.servers {
		server.Close()
	}
}
