// Package observation observes Kafka clusters: the objects of a cluster in Kubernetes and the answers of Kafka (Snapshot), and what
// follows from them about each of its nodes (Node). It decides nothing and writes nothing.
package observation

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/fleet"
	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// Names of the lifecycles of a Kafka resource.
const (
	LifecycleVersion = "version"
	LifecycleRoll    = fleet.Lifecycle
	LifecycleStorage = "storage"
	// LifecycleScaleDown removes brokers.
	LifecycleScaleDown = "scale-down"
	// LifecycleConfiguration alters configurations of running brokers.
	LifecycleConfiguration = "configuration"
)

// Finalizing is who completes a version change by raising the metadata version.
type Finalizing string

const (
	// FinalizeAutomatically raises it as soon as its preconditions are satisfied.
	FinalizeAutomatically Finalizing = "automatic"
	// FinalizeByApproval waits for the approval of a user.
	FinalizeByApproval Finalizing = "approval"
)

// Options of the manager that a reconcile depends on.
type Options struct {
	// OperatorVersion is shown in status.operatorLastSuccessfulVersion.
	OperatorVersion string
	// Finalizing is who raises the metadata version.
	Finalizing Finalizing
	// RefusalPause is the delay before a refused change of the metadata version is requested again. Default: one minute.
	RefusalPause time.Duration
}

// Snapshot is the observation of a Kafka cluster in one reconcile, as plain values. Its objects may belong to a cache and must
// not be modified. Lists are sorted by name, nodes by id.
type Snapshot struct {
	// Now is the time of the reconcile.
	Now     time.Time
	Options Options
	// Table of the known versions of Kafka.
	Table *versions.Table

	// Objects that exist.
	Objects Objects

	// Moved are the clusters in the labels of pools that have nodes here but belong to another cluster, by pool; empty for a pool
	// without the label.
	Moved map[string]string
	// IDs are the node ids of the pools. Desired ids that are in no pool's status yet are not among the Nodes.
	IDs nodeids.Plan
	// Identity is the cluster to which the data belongs.
	Identity Identity
	// Nodes are the desired, recorded and running nodes, sorted by id.
	Nodes []Node
	// Defects describe unreadable records, entries and names. Their readable parts are used.
	Defects []string

	// Features are the finalized levels, and the ranges that the binaries of the running brokers support.
	Features   transitions.Fact[kafkaclient.Features]
	Quorum     transitions.Fact[kafkaclient.Quorum]
	Partitions transitions.Fact[kafkaclient.Partitions]
	Brokers    transitions.Fact[kafkaclient.Brokers]
	// Members are the answers of nodes that are not ready to direct queries.
	Members transitions.Fact[roll.Members]
	// Slot is what the limit on clusters that roll at once says of this one.
	Slot transitions.Fact[noderoll.Slot]
	// Answers to the external writes of the current visit of each lifecycle's state, by lifecycle. None is left out.
	Answers map[string]external.Answer

	// InFlight is the uncertain outcome of earlier commands to change a level, Unregistering that of commands to unregister brokers.
	InFlight, Unregistering external.InFlight
	// Altering is the uncertain outcome of commands to alter configurations, and Settings are the dynamic configurations of the
	// brokers that answer.
	Altering external.InFlight
	Settings transitions.Fact[map[int32]kafkaclient.Settings]

	// LogDirs are the log directories of brokers that leave, and Cordons whether they get new replicas, by broker. Moves are their
	// partitions and all reassignments in progress.
	LogDirs transitions.Fact[map[int32]kafkaclient.LogDirs]
	Cordons transitions.Fact[map[int32]bool]
	Moves   transitions.Fact[kraftscaledown.Moves]

	// SeenBrokers, seenQuorum and SeenPartitions are the facts for records and node ids: Brokers, Quorum and Partitions, also if
	// no lifecycle requests them.
	SeenBrokers    transitions.Fact[kafkaclient.Brokers]
	SeenQuorum     transitions.Fact[kafkaclient.Quorum]
	SeenPartitions transitions.Fact[kafkaclient.Partitions]
	// drains is true if a drain of the brokers that leave is requested.
	drains bool
	// unanswered is true if the answer of a broker about its dynamic configurations was still awaited when they were last asked for.
	unanswered bool
	// SpecError is why the spec cannot be applied, as package facts finds it in the rest of the snapshot; nil if it can.
	SpecError *transitions.Problem
	// asksForIDs is true if nodes are to be created on ids that Kafka may know.
	asksForIDs bool
	// Rendered are the desired objects. They depend only on the values above.
	Rendered *render.Cluster
}

// Objects are the existing objects of a cluster. Each list is sorted by name.
type Objects struct {
	// Pools are the KafkaNodePools with the cluster's label.
	Pools      []*kafkav1beta2.KafkaNodePool
	PodSets    []*corev1beta2.StrimziPodSet
	Pods       []*corev1.Pod
	ConfigMaps []*corev1.ConfigMap
	Claims     []*corev1.PersistentVolumeClaim
	Budgets    []*policyv1.PodDisruptionBudget
	// No decision depends on these. A live observation omits them.
	Services    []*corev1.Service
	Accounts    []*corev1.ServiceAccount
	Deployments []*appsv1.Deployment
}

// Answer returns the answer to the lifecycle's external write, or none.
func (v *Snapshot) Answer(lifecycle string) external.Answer { return v.Answers[lifecycle] }

// Identity is Kafka's id of a cluster.
type Identity struct {
	// ID is the id that the cluster has or will get.
	ID string
	// Mismatch lists the sources that contradict each other; nil if there are none. With a mismatch nothing is created.
	Mismatch *transitions.Problem
}

// Node returns the node with the id, or nil.
func (v *Snapshot) Node(id int32) *Node {
	i, found := slices.BinarySearchFunc(v.Nodes, id, func(n Node, id int32) int { return int(n.ID) - int(id) })
	if !found {
		return nil
	}
	return &v.Nodes[i]
}

// Pool returns the pool with the name, or nil.
func (v *Snapshot) Pool(name string) *kafkav1beta2.KafkaNodePool { return Named(v.Objects.Pools, name) }

// Started reports whether any process of the cluster was ever started, or is about to be: by pods, entries and records.
func (v *Snapshot) Started() bool { return slices.ContainsFunc(v.Nodes, started) }

func started(n Node) bool { return n.Recorded && n.Record.Started() || n.Pod.Exists || n.Entry.Exists }

// NeverLed reports whether no controller of the cluster ever ran, and no storage was ever in use, by records that are all readable. Such a
// cluster has no data, although pods or entries of it may exist.
func (v *Snapshot) NeverLed() bool {
	return !slices.ContainsFunc(v.Nodes, func(n Node) bool {
		r := &n.Record
		fresh := n.Recorded && !n.RecordBroken && r.Format == record.FormatAllowed && len(r.Volumes)+len(r.Replaced) == 0
		return n.exists() && !fresh || n.WasController() && (r.Started() || n.Pod.Running)
	})
}

// Unused reports whether the node is recorded, not desired, and was never to be started: in a cluster of which nothing was started, its
// record permits formatting and knows of no volume in use. Such a node has no data, and no process knows it as a voter.
func (v *Snapshot) Unused(n *Node) bool {
	r := &n.Record
	return n.Recorded && !n.RecordBroken && !n.Wanted && !v.Started() && r.Format == record.FormatAllowed && len(r.Volumes)+len(r.Replaced) == 0 &&
		!r.Stop && r.Draining == 0
}

// Clone returns a copy that shares no mutable values with v.
func (v *Snapshot) Clone() Snapshot {
	c := *v
	c.Objects = v.Objects.clone()
	c.IDs = nodeids.Plan{Pools: slices.Clone(v.IDs.Pools), Refusal: v.IDs.Refusal, Warnings: slices.Clone(v.IDs.Warnings)}
	c.Nodes = slices.Clone(v.Nodes)
	for i := range c.Nodes {
		c.Nodes[i].Record = v.Nodes[i].Record.Clone()
	}
	c.Defects = slices.Clone(v.Defects)
	c.Features = cloned(v.Features, kafkaclient.Features.Clone)
	c.Quorum = cloned(v.Quorum, kafkaclient.Quorum.Clone)
	c.Partitions = cloned(v.Partitions, kafkaclient.Partitions.Clone)
	c.Brokers = cloned(v.Brokers, kafkaclient.Brokers.Clone)
	c.Members = cloned(v.Members, maps.Clone)
	c.Settings = cloned(v.Settings, maps.Clone)
	c.LogDirs, c.Cordons = cloned(v.LogDirs, maps.Clone), cloned(v.Cordons, maps.Clone)
	c.SeenBrokers = cloned(v.SeenBrokers, kafkaclient.Brokers.Clone)
	c.SeenQuorum = cloned(v.SeenQuorum, kafkaclient.Quorum.Clone)
	c.SeenPartitions = cloned(v.SeenPartitions, kafkaclient.Partitions.Clone)
	c.Answers = make(map[string]external.Answer, len(v.Answers))
	maps.Copy(c.Answers, v.Answers)
	return c
}

// cloned returns a known fact with a copy of its value, and any other fact unchanged.
func cloned[T any](fact transitions.Fact[T], clone func(T) T) transitions.Fact[T] {
	if !fact.Asked() {
		return fact
	}
	value, known := fact.Get()
	if !known {
		return fact
	}
	return transitions.Known(clone(value), fact.At())
}

// Setting returns a configured duration in milliseconds, or otherwise if it is unset or invalid.
func Setting(k *kafkav1beta2.Kafka, name string, otherwise time.Duration) time.Duration {
	text, set := k.Spec.Kafka.Property(name)
	if !set {
		return otherwise
	}
	if d, valid := milliseconds(text); valid {
		return d
	}
	return otherwise
}

// milliseconds parses a positive number of milliseconds of a property of 32 bits. Kafka ignores spaces around it.
func milliseconds(text string) (d time.Duration, valid bool) {
	ms, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	return time.Duration(ms) * time.Millisecond, err == nil && ms > 0
}

// Readiness counts the brokers and controllers with a ready pod, and all controllers.
type Readiness struct{ Brokers, Controllers, Voters int }

// CountReady counts the nodes that are desired or have a pod.
func CountReady(v *Snapshot) Readiness {
	var r Readiness
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Wanted && !n.Pod.Exists {
			continue
		}
		if n.Roles.Controller {
			r.Voters++
		}
		if n.Pod.Ready && n.RolesRunning.Broker {
			r.Brokers++
		}
		if n.Pod.Ready && n.RolesRunning.Controller {
			r.Controllers++
		}
	}
	return r
}

// Serves reports whether a broker and a majority of the controllers are ready.
func (r Readiness) Serves() bool { return r.Brokers > 0 && 2*r.Controllers > r.Voters }
