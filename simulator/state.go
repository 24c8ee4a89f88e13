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

// Labels and annotations that tell a Kafka pod. Source: Strimzi.
const (
	clusterLabel      = "strimzi.io/cluster"
	versionAnnotation = "strimzi.io/kafka-version"
	kafkaContainer    = "kafka"
)

// Options of a State. They do not change and are shared by its clones.
type Options struct {
	// Table of the releases that exist. Demanded.
	Table *versions.Table
	// Settings of new clusters. Default: DefaultSettings.
	Settings kafka.Settings
	// Delays of the kubelets. Default: kubelet.DefaultDelays.
	Delays kubelet.Delays
	// Topics that people make in every new cluster, as soon as it can hold them. Default: none.
	Topics []Topic
}

// DefaultSettings are those of kafka with the time to catch up that a broker with data was seen to take: for a few seconds
// after its restart it is out of sync.
func DefaultSettings() kafka.Settings {
	s := kafka.DefaultSettings()
	s.CatchUp = 3_000
	return s
}

// State is the simulated world. Copies made with Clone live on independently. It is not safe for concurrent use.
type State struct {
	// Now in simulated milliseconds. It never moves back.
	Now int64
	// Timeline relates Now to the times that pods' statuses carry.
	Timeline kubelet.Timeline
	// Script is what goes wrong. It may be changed at any time.
	Script Script

	options  *Options
	binaries []kafka.Binary
	pods     kubelet.Pods
	clusters []*Cluster
}

// New makes a world in which nothing runs yet.
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

// Clone returns a copy that lives on independently.
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

// Cluster is a simulated Kafka cluster as Kubernetes sees it: which pods its processes are of and what lies on its disks.
type Cluster struct {
	types.NamespacedName
	// Kafka is the cluster itself.
	Kafka *kafka.Cluster
	// seats of nodes by id, disks by key.
	seats []seat
	disks []disk
	// created says that the topics were made.
	created bool
}

// seat is the place of a node: which pod its process is of.
type seat struct {
	id  int32
	pod types.UID
	// bootstrap is what the process knows of topics that are made by default.
	replication, minISR int32
}

func (c *Cluster) clone() *Cluster {
	copied := *c
	copied.Kafka = c.Kafka.Clone()
	copied.seats, copied.disks = slices.Clone(c.seats), slices.Clone(c.disks)
	return &copied
}

// Clusters by namespace and name. The slice must not be changed.
func (s *State) Clusters() []*Cluster { return s.clusters }

// Cluster of the name, made when there is none: a cluster without nodes, to which pods may come.
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

// ClusterOf is the name of the cluster that a pod is a node of, false for a pod that is none.
func ClusterOf(pod *corev1.Pod) (types.NamespacedName, bool) {
	name := pod.Labels[clusterLabel]
	isKafka := name != "" && pod.Annotations[versionAnnotation] != "" &&
		slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == kafkaContainer })
	return types.NamespacedName{Namespace: pod.Namespace, Name: name}, isKafka
}

// Tick moves time on, and every cluster with it. Pods move when they are synced.
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

// NextEvent is when something happens next by itself to a cluster or a pod. A program that runs is looked at then too.
func (s *State) NextEvent() (int64, bool) {
	next, found := s.pods.NextEvent()
	for _, c := range s.clusters {
		if at, ok := c.Kafka.NextEvent(); ok && (!found || at < next) {
			next, found = at, true
		}
	}
	return next, found
}

// Sync moves a pod on to Now and says what to write: see kubelet.Pods.Sync.
func (s *State) Sync(pod *corev1.Pod, mounts kubelet.Mounts, nodes []kubelet.Node) kubelet.Outcome {
	return s.pods.Sync(host{s}, kubelet.Sight{Pod: pod, Mounts: mounts, Nodes: nodes, Timeline: s.Timeline, Now: s.Now})
}

// Gone forgets a pod that does not exist any more and kills what still runs of it.
func (s *State) Gone(pod types.NamespacedName) { s.pods.Gone(host{s}, pod, s.Now) }

// Pods are what the kubelets know.
func (s *State) Pods() *kubelet.Pods { return &s.pods }
