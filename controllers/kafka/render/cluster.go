// Package render makes the Kubernetes objects of a Kafka cluster: a pure function of what is wanted and of who the nodes are.
// It calls nobody and reads no clock, so that equal input gives equal bytes, and a difference between what is rendered and
// what exists is a difference between what is wanted and what is.
package render

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// Input is everything that the objects of a cluster follow from.
type Input struct {
	Namespace, Name string
	Spec            kafkav1beta2.KafkaSpec
	// Pools by name.
	Pools []Pool
	// Nodes by id: those that exist and those that are wanted.
	Nodes     []Node
	ClusterID string
	Table     *versions.Table
}

// Pool of a cluster.
type Pool struct {
	Name string
	Spec kafkav1beta2.KafkaNodePoolSpec
}

// Node of a cluster.
type Node struct {
	ID   int32
	Pool string
	// Pod is the name of its pod.
	Pod                string
	Controller, Broker bool
	// Runs says that it has a pod, or is to have one.
	Runs bool
	// Image and Version of the pod that runs, empty without one: what else is known of a version that nobody lists.
	Image, Version string
}

// Cluster renders the objects of one cluster. What it renders is kept; callers do not change it. It is safe for concurrent
// use.
type Cluster struct {
	in     Input
	config config

	mu      sync.Mutex
	entries map[entryKey]*Entry
	made    map[string]any
}

type entryKey struct {
	id      int32
	version string
}

// New makes a Cluster. It keeps in, which nobody changes any more.
func New(in Input) *Cluster {
	return &Cluster{in: in, config: newConfig(&in), entries: map[entryKey]*Entry{}, made: map[string]any{}}
}

// once makes something under a name, and gives the same thing from then on.
func once[T any](c *Cluster, name string, build func() (T, error)) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.made[name].(T); ok {
		return kept, nil
	}
	value, err := build()
	if err == nil {
		c.made[name] = value
	}
	return value, err
}

// always is once for what cannot fail.
func always[T any](c *Cluster, name string, build func() T) T {
	value, _ := once(c, name, func() (T, error) { return build(), nil }) // it never fails
	return value
}

// Renders says whether the cluster renders that input.
func (c *Cluster) Renders(in *Input) bool { return reflect.DeepEqual(&c.in, in) }

// node of the id with its pool.
func (c *Cluster) node(id int32) (*Node, *kafkav1beta2.KafkaNodePoolSpec, error) {
	i, found := slices.BinarySearchFunc(c.in.Nodes, id, func(n Node, id int32) int { return int(n.ID) - int(id) })
	if !found {
		return nil, nil, fmt.Errorf("rendering node %d of Kafka %s: there is no such node", id, c.in.Name)
	}
	n := &c.in.Nodes[i]
	p, found := slices.BinarySearchFunc(c.in.Pools, n.Pool, func(p Pool, name string) int { return strings.Compare(p.Name, name) })
	if !found {
		return nil, nil, fmt.Errorf("rendering node %d of Kafka %s: its KafkaNodePool %s is gone", id, c.in.Name, n.Pool)
	}
	return n, &c.in.Pools[p].Spec, nil
}

// labels of an object of the cluster's component; more are added by the caller.
func (c *Cluster) labels(component string) map[string]string {
	return map[string]string{
		labels.Cluster: c.in.Name, labels.Kind: labels.KindKafka, labels.Name: component,
		labels.AppName: "kafka", labels.AppInstance: c.in.Name, labels.AppManagedBy: labels.ManagedBy, labels.AppPartOf: "strimzi-" + c.in.Name,
	}
}

// nodeLabels are the labels of everything that belongs to one node.
func (c *Cluster) nodeLabels(n *Node) map[string]string {
	l := c.labels(labels.KafkaName(c.in.Name))
	l[labels.Pool] = n.Pool
	l[labels.NodeID] = fmt.Sprint(n.ID)
	return l
}

// selector of every pod of the cluster's nodes.
func (c *Cluster) selector() map[string]string {
	return map[string]string{labels.Cluster: c.in.Name, labels.Kind: labels.KindKafka, labels.Name: labels.KafkaName(c.in.Name)}
}
