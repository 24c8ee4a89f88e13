package simulator

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// Labels and annotations that identify a Kafka pod. Source: Strimzi.
const (
	clusterLabel      = "strimzi.io/cluster"
	versionAnnotation = "strimzi.io/kafka-version"
	kafkaContainer    = "kafka"
)

// Options of a State. They do not change, and clones share them.
type Options struct {
	// Table of the releases that exist. Required.
	Table *versions.Table
	// Settings of new clusters. Optional; default: DefaultSettings.
	Settings kafka.Settings
	// Delays of the kubelets. Optional; default: kubelet.DefaultDelays.
	Delays kubelet.Delays
	// Topics that are created in every new cluster, once it has enough brokers. Optional; default: none.
	Topics []Topic
}

// DefaultSettings are those of package kafka, with the time to catch up that was measured for a broker with data: it is
// out of sync for a few seconds after its restart.
func DefaultSettings() kafka.Settings {
	s := kafka.DefaultSettings()
	s.CatchUp = 3_000
	return s
}

// State is the simulated world. Copies made with Clone are independent. It is not safe for concurrent use.
type State struct {
	// Now in simulated milliseconds. It never moves back.
	Now int64
	// Timeline converts Now to the times in the statuses of pods.
	Timeline kubelet.Timeline
	// Script is the scripted failures. It may be changed at any time.
	Script Script

	options  *Options
	binaries []kafka.Binary
	pods     kubelet.Pods
	clusters []*Cluster
}

// New returns a world without clusters and pods.
func New(options Options, timeline kubelet.Timeline) *State {
	if options.Settings == (kafka.Settings{}) {
		options.Settings = DefaultSettings()
	}
	if options.Delays == (kubelet.Delays{}) {
		options.Delays = kubelet.DefaultDelays()
	}
	return &State{
		Now: 1, Timeline: timeline, options: &options, binaries: Binaries(options.Table), pods: kubelet.Pods{Delays: options.Delays},
	}
}

// Clone returns an independent copy.
func (s *State) Clone() *State {
	c := *s
	c.pods = s.pods.Clone()
	c.Script = s.Script.clone()
	c.clusters = make([]*Cluster, len(s.clusters))
	for i, cluster := range s.clusters {
		c.clusters[i] = cluster.clone()
	}
	return &c
}

// Cluster is a simulated Kafka cluster on Kubernetes: its nodes, the pods of their processes, and the contents of their
// disks.
type Cluster struct {
	types.NamespacedName
	// Kafka is the model of the cluster.
	Kafka *kafka.Cluster
	// seats of nodes by id, disks by key.
	seats []seat
	disks []disk
	// created is true once the topics were created.
	created bool
}

// seat maps a node to the pod of its process.
type seat struct {
	id  int32
	pod types.UID
	// replication and minISR are the broker's defaults for new topics.
	replication, minISR int32
}

func (c *Cluster) clone() *Cluster {
	copied := *c
	copied.Kafka = c.Kafka.Clone()
	copied.seats, copied.disks = slices.Clone(c.seats), slices.Clone(c.disks)
	return &copied
}

// Clusters returns the clusters by namespace and name. The slice must not be modified.
func (s *State) Clusters() []*Cluster { return s.clusters }

// Cluster returns the cluster of the name. If there is none, it creates a cluster without nodes, which pods can join.
func (s *State) Cluster(name types.NamespacedName) *Cluster {
	i, found := slices.BinarySearchFunc(s.clusters, name, func(c *Cluster, name types.NamespacedName) int {
		return cmp.Or(cmp.Compare(c.Namespace, name.Namespace), cmp.Compare(c.Name, name.Name))
	})
	if !found {
		c := &Cluster{NamespacedName: name, Kafka: kafka.New("", s.binaries, s.options.Settings)}
		c.Kafka.Tick(s.Now)
		s.clusters = slices.Insert(s.clusters, i, c)
	}
	return s.clusters[i]
}

// ClusterOf returns the name of the cluster of a pod, and false if the pod is not a Kafka node.
func ClusterOf(pod *corev1.Pod) (types.NamespacedName, bool) {
	name := pod.Labels[clusterLabel]
	isKafka := name != "" && pod.Annotations[versionAnnotation] != "" &&
		slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == kafkaContainer })
	return types.NamespacedName{Namespace: pod.Namespace, Name: name}, isKafka
}

// Tick advances the time of the world and of all clusters. Pods advance when they are synced.
func (s *State) Tick(now int64) {
	s.Now = max(s.Now, now)
	for _, c := range s.clusters {
		s.tick(c)
	}
}

func (s *State) tick(c *Cluster) {
	c.Kafka.Tick(s.Now)
	s.makeTopics(c)
}

// NextEvent is the time of the next event of a cluster or a pod. Running programs are also checked then. It returns false
// if there is none.
func (s *State) NextEvent() (int64, bool) {
	next, found := s.pods.NextEvent()
	for _, c := range s.clusters {
		if at, ok := c.Kafka.NextEvent(); ok && (!found || at < next) {
			next, found = at, true
		}
	}
	return next, found
}

// Sync advances a pod to Now and returns what to write: see kubelet.Pods.Sync.
func (s *State) Sync(pod *corev1.Pod, mounts kubelet.Mounts, nodes []kubelet.Node) kubelet.Outcome {
	return s.pods.Sync(host{s}, kubelet.Sight{Pod: pod, Mounts: mounts, Nodes: nodes, Timeline: s.Timeline, Now: s.Now})
}

// Gone removes a pod that does not exist any more, and kills its process if it is still running.
func (s *State) Gone(pod types.NamespacedName) { s.pods.Gone(host{s}, pod, s.Now) }

// Pods returns the pods that the kubelets know.
func (s *State) Pods() *kubelet.Pods { return &s.pods }
