package scaledown

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/runtime/external"
)

const (
	// nodes of the cluster: node 0 is controller and broker, the others are brokers.
	nodes      = 4
	partitions = 2
	// past is a broker of which only the registration is left.
	past = 9

	session = 9 * time.Second // from when a process is gone until Kafka fences its broker
	settle  = time.Minute     // in which a request may take effect
)

// World is Kafka and what runs in pods.
type World struct {
	// listsFenced means that Kafka lists fenced brokers, as it does from 4.0 on.
	listsFenced bool
	// level of metadata.version.
	level int16
	nodes [nodes]node
	// past means that a broker that no longer exists is registered.
	past       broker
	partitions [partitions]partition
	// raise is the last request to change the level, to the level of raiseTo.
	raise   request
	raiseTo int16
	// silent means that Kafka does not answer.
	silent bool
	// wiped means that the statuses of the pools were emptied once.
	wiped bool
	// frail means that the last node loses its pod at some time, and refusing that Kafka refuses the next request to unregister a broker.
	// Both happen once, and are no faults: the scene is about them.
	frail, refusing bool
	// wanted is what the pools request, and drain what the annotation of the Kafka requests.
	wanted wanted
	// harm is the first damage that was done. Every state is checked for it.
	harm string
	// entries are the decoded entries of StrimziPodSets, shared by all copies.
	entries *entries
}

// wanted is the desired state of the pools.
type wanted struct {
	// workers is the number of brokers besides node 0. dual means that node 0 is to be a broker, too.
	workers int
	dual    bool
	// deleted means that the pool of the brokers was deleted.
	deleted bool
}

// broker is a registration.
type broker struct {
	registered bool
	// request is the last one to unregister it.
	request request
}

// node is a process with its registration.
type node struct {
	broker
	// process is the pod whose process runs; empty if none does. serves means that it has the broker role.
	process types.UID
	serves  bool
	// left is when its last process in the broker role ended.
	left time.Time
	// cut means that its process runs and is not heard of.
	cut      bool
	cordoned bool
	// abandoned means that its drain was ended while no process could be asked to lift its cordon.
	abandoned bool
}

// request was sent by an operator.
type request struct {
	id    machines.RequestID
	state external.AnswerState
	code  int
}

// partition of a topic. Without replicas it does not exist.
type partition struct {
	replicas [2]int32
	exists   bool
	// target are the replicas to which it is being moved.
	target [2]int32
	moving bool
}

func (p *partition) on(id int32) bool {
	return p.exists && (slices.Contains(p.replicas[:], id) || p.moving && slices.Contains(p.target[:], id))
}

// holds returns the number of partitions with a replica on the broker.
func (w *World) holds(id int32) int {
	held := 0
	for i := range w.partitions {
		if w.partitions[i].on(id) {
			held++
		}
	}
	return held
}

// broker returns the registration of the broker; nil if there never was one.
func (w *World) broker(id int32) *broker {
	switch {
	case id == past:
		return &w.past
	case id < 0 || id >= nodes:
		return nil
	}
	return &w.nodes[id].broker
}

// runs reports whether a process runs in the broker role.
func (n *node) runs() bool { return n.process != "" && n.serves }

// alive reports whether Kafka counts the broker as alive.
func (n *node) alive(now time.Time) bool {
	return n.registered && (n.runs() && !n.cut || !n.left.IsZero() && now.Before(n.left.Add(session)))
}

// answers reports whether Kafka answers questions: its only controller is node 0.
func (w *World) answers() bool { return !w.silent && w.nodes[0].process != "" }

// hurt records the first damage.
func (w *World) hurt(what string) {
	if w.harm == "" {
		w.harm = what
	}
}

// Clone implements explore.World.
func (w *World) Clone() explore.World {
	out := *w
	return &out
}

func bit(yes bool) byte {
	if yes {
		return 1
	}
	return 0
}

// AppendCanonical implements explore.World.
func (w *World) AppendCanonical(dst []byte, at *explore.Scenario) []byte {
	dst = append(dst, bit(w.listsFenced), byte(w.level), bit(w.silent), bit(w.wiped), bit(w.frail), bit(w.refusing), byte(w.wanted.workers), bit(w.wanted.dual), bit(w.wanted.deleted))
	dst = append(dst, w.harm...)
	dst = w.raise.append(append(dst, byte(w.raiseTo)), at, "version")
	dst = w.past.request.append(append(dst, bit(w.past.registered)), at, "scale-down")
	pods := podsOf(at)
	for i := range w.nodes {
		n := &w.nodes[i]
		dst = append(dst, bit(n.process != ""), bit(pods[i] != nil && pods[i].UID == n.process), bit(n.serves), bit(n.alive(at.Now())), bit(n.cut), bit(n.cordoned), bit(n.abandoned), bit(n.registered))
		dst = n.request.append(append(dst, at.Age(n.left)), at, "scale-down")
	}
	for i := range w.partitions {
		p := &w.partitions[i]
		dst = append(dst, bit(p.exists), byte(p.replicas[0]), byte(p.replicas[1]), bit(p.moving), byte(p.target[0]), byte(p.target[1]))
	}
	return dst
}

func (r *request) append(dst []byte, at *explore.Scenario, lifecycle string) []byte {
	return append(append(append(dst, r.state...), 0), bit(r.id == at.RequestID(lifecycle)))
}

// of returns the world of the present state.
func of(at *explore.Scenario) *World {
	w, ok := at.World().(*World)
	if !ok {
		panic("a state without a Kafka")
	}
	return w
}

// entries decodes entries of StrimziPodSets once.
type entries struct {
	mu   sync.Mutex
	seen map[string]*corev1.Pod
}

// pod returns the pod of the entry, which must not be modified.
func (e *entries) pod(entry corev1beta2.PodEntry) *corev1.Pod {
	e.mu.Lock()
	defer e.mu.Unlock()
	pod, known := e.seen[string(entry.Raw)]
	if !known {
		var err error
		if pod, err = entry.Pod(); err != nil {
			panic(err)
		}
		e.seen[string(entry.Raw)] = pod
	}
	return pod
}
