// Package render creates the Kubernetes objects of a Kafka cluster. It is a pure function of the desired state and of the nodes.
// It sends no requests and reads no clock, so that equal input gives equal bytes, and any difference between rendered and existing
// objects is a difference between desired and actual state.
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

// Input is everything that the objects of a cluster depend on.
type Input struct {
	Namespace, Name string
	Spec            kafkav1beta2.KafkaSpec
	// Pools sorted by name.
	Pools []Pool
	// Nodes sorted by id: existing and desired ones.
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
	// Runs is true if it counts for the disruption budget: its pod runs, should run again, or is being created.
	Runs bool
	// Image and Version with which the node runs or is created again, if the version is not the declared one or the table does not list it;
	// else empty.
	Image, Version string
}

// Cluster renders the objects of one cluster and caches them. Callers must not modify them. It is safe for concurrent use.
type Cluster struct {
	in     Input
	config config

	mu      sync.Mutex
	entries map[entryKey]*Entry
	made    map[part]any
}

// part of a cluster that is rendered once: its kind, and the pod or pool that it belongs to, if any.
type part struct{ kind, of string }

type entryKey struct {
	id      int32
	version string
}

// New returns a Cluster. It keeps in, which the caller must not modify afterwards.
func New(in Input) *Cluster {
	return &Cluster{in: in, config: newConfig(&in), entries: map[entryKey]*Entry{}, made: map[part]any{}}
}

// once builds each part once and caches it. Errors are not cached.
func once[T any](c *Cluster, name part, build func() (T, error)) (T, error) {
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

// always is once for builders that cannot fail.
func always[T any](c *Cluster, name part, build func() T) T {
	value, _ := once(c, name, func() (T, error) { return build(), nil }) // the builder never fails
	return value
}

// Derived returns what derive computes from the input, and caches it under the name. derive may depend on nothing else.
func Derived[T any](c *Cluster, name string, derive func(in *Input) T) T {
	return always(c, part{"derived", name}, func() T { return derive(&c.in) })
}

// Renders reports whether the cluster was created for an equal input.
func (c *Cluster) Renders(in *Input) bool { return reflect.DeepEqual(&c.in, in) }

// node returns the node with the id, and its pool.
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

// labels returns the labels of an object of a component. Callers add more.
func (c *Cluster) labels(component string) map[string]string {
	return map[string]string{
		labels.Cluster: c.in.Name, labels.Kind: labels.KindKafka, labels.Name: component,
		labels.AppName: "kafka", labels.AppInstance: c.in.Name, labels.AppManagedBy: labels.ManagedBy, labels.AppPartOf: "strimzi-" + c.in.Name,
	}
}

// nodeLabels returns the labels of all objects of one node.
func (c *Cluster) nodeLabels(n *Node) map[string]string {
	l := c.labels(labels.KafkaName(c.in.Name))
	l[labels.Pool] = n.Pool
	l[labels.NodeID] = fmt.Sprint(n.ID)
	return l
}

// selector selects the pods of all nodes of the cluster.
func (c *Cluster) selector() map[string]string {
	return labels.OfNodes(c.in.Name)
}
