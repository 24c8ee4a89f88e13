// Package kafka is the controller of Kafka clusters: what one pass knows of a cluster (View), what its nodes are remembered
// by (records), what it is made of on Kubernetes (Repair, Apply) and how one of its nodes is restarted (Restart).
// Which lifecycles run on it is said where they are bound to the kind.
package kafka

import (
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/controllers/kafka/render"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// Finalizing says who ends a version change by raising the metadata version.
type Finalizing string

const (
	// FinalizeAutomatically raises it as soon as nothing stands in the way.
	FinalizeAutomatically Finalizing = "automatic"
	// FinalizeByApproval waits for a person.
	FinalizeByApproval Finalizing = "approval"
)

// Options of the manager that a pass rests on.
type Options struct {
	// OperatorVersion is shown in status.operatorLastSuccessfulVersion.
	OperatorVersion string
	// Finalizing is who raises the metadata version.
	Finalizing Finalizing
	// RefusalPause is how long a refused change of the metadata version rests before Kafka is asked again. Default a minute.
	RefusalPause time.Duration
}

// View is everything that one pass knows of a Kafka cluster, as plain values. Its objects may belong to a cache: nobody
// changes them. Lists are sorted by name, nodes by id.
type View struct {
	// Now is the time of the pass.
	Now     time.Time
	Options Options
	// Table is the versions of Kafka that are known.
	Table *versions.Table

	// Objects that exist.
	Objects Objects

	// moved are the clusters that pools with nodes here belong to now by their label, by pool; "" for a pool without the label.
	moved map[string]string
	// IDs says which node ids the pools have. Wanted ids that are in no pool's status yet are not among the Nodes.
	IDs nodeids.Plan
	// Identity is what the cluster's data belongs to.
	Identity Identity
	// Nodes are those wanted, recorded or running, by id.
	Nodes []Node
	// Defects are records, entries and names that cannot be read, in words. What can be read of them is used.
	Defects []string

	// Features are the finalized levels, and the ranges that the binaries of the running brokers support.
	Features   transitions.Fact[kafkaclient.Features]
	Quorum     transitions.Fact[kafkaclient.Quorum]
	Partitions transitions.Fact[kafkaclient.Partitions]
	Brokers    transitions.Fact[kafkaclient.Brokers]
	// Members is what nodes that are not ready answer when they are asked directly.
	Members transitions.Fact[roll.Members]
	// Slot is what the limit on clusters that roll at once says of this one.
	Slot transitions.Fact[noderoll.Slot]
	// Answers to the external writes of this visit of each lifecycle's state, by lifecycle; AnswerNone is left out.
	Answers map[string]Answer

	// Doubt about earlier commands to change a level.
	Doubt Doubt

	// seenBrokers, seenQuorum and seenPartitions are what records and node ids rest on: Brokers, Quorum and Partitions, also where
	// no lifecycle wants to know them.
	seenBrokers    transitions.Fact[kafkaclient.Brokers]
	seenQuorum     transitions.Fact[kafkaclient.Quorum]
	seenPartitions transitions.Fact[kafkaclient.Partitions]
	// asksForIDs says that nodes are to be created on ids that Kafka may know.
	asksForIDs bool
	// rendered is a function of the values above: what the cluster is to be made of.
	rendered *render.Cluster
}

// Objects of a cluster that exist, each list sorted by name.
type Objects struct {
	// Pools are the KafkaNodePools with the cluster's label.
	Pools      []*kafkav1beta2.KafkaNodePool
	PodSets    []*corev1beta2.StrimziPodSet
	Pods       []*corev1.Pod
	ConfigMaps []*corev1.ConfigMap
	Claims     []*corev1.PersistentVolumeClaim
	Budgets    []*policyv1.PodDisruptionBudget
	// No decision rests on these, and a live look leaves them out.
	Services    []*corev1.Service
	Accounts    []*corev1.ServiceAccount
	Deployments []*appsv1.Deployment
}

// AnswerState is how far an external write has come.
type AnswerState string

const (
	// AnswerNone: nothing was asked with this ticket, as far as this process knows.
	AnswerNone AnswerState = ""
	// AnswerPending: it was handed over and is not answered yet.
	AnswerPending AnswerState = "pending"
	// AnswerDone: it was done.
	AnswerDone AnswerState = "done"
	// AnswerRefused: it was not done, and Kafka said why.
	AnswerRefused AnswerState = "refused"
	// AnswerFailed: it never left, and was not done.
	AnswerFailed AnswerState = "failed"
	// AnswerUnknown: it may have been done. Only reading settles it.
	AnswerUnknown AnswerState = "unknown"
)

// Answer to an external write.
type Answer struct {
	Ticket machines.Ticket
	State  AnswerState
	// Code and Name of a refusal in Kafka's protocol.
	Code int16
	Name string
	// Text is Kafka's own, or why there is no answer.
	Text string
}

// Answer of the lifecycle's external write, AnswerNone if there is none.
func (v *View) Answer(lifecycle string) Answer { return v.Answers[lifecycle] }

// Identity is the id that Kafka knows a cluster by.
type Identity struct {
	// ID is what the cluster is, or is to be.
	ID string
	// Mismatch names the sources that contradict each other; empty if none do. Nothing is created then.
	Mismatch string
}

// Node by id, or nil.
func (v *View) Node(id int32) *Node {
	i, found := slices.BinarySearchFunc(v.Nodes, id, func(n Node, id int32) int { return int(n.ID) - int(id) })
	if !found {
		return nil
	}
	return &v.Nodes[i]
}

// Pool by name, or nil.
func (v *View) Pool(name string) *kafkav1beta2.KafkaNodePool { return named(v.Objects.Pools, name) }

// Started says whether any process of the cluster was ever started, as far as anything remembers.
func (v *View) Started() bool {
	return slices.ContainsFunc(v.Nodes, func(n Node) bool { return n.Recorded && n.Record.Started() || n.Pod.Exists })
}

// Clone shares nothing that anybody changes with v.
func (v *View) Clone() View {
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
	c.seenBrokers = cloned(v.seenBrokers, kafkaclient.Brokers.Clone)
	c.seenQuorum = cloned(v.seenQuorum, kafkaclient.Quorum.Clone)
	c.seenPartitions = cloned(v.seenPartitions, kafkaclient.Partitions.Clone)
	c.Answers = make(map[string]Answer, len(v.Answers))
	maps.Copy(c.Answers, v.Answers)
	return c
}

// cloned is a known fact with a value of its own; any other fact is a plain value.
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
