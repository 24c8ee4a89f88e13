package observation

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/entryhash"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
)

// rendered caches rendered clusters, because rendering costs more than the rest of a reconcile at rest. The result depends only on
// the input.
type rendered struct {
	mu       sync.Mutex
	clusters map[types.UID][]*render.Cluster
}

// mostVariants is the number of cached inputs of one cluster, so that a change and its revert are both cached.
const mostVariants = 3

// mostClusters is the maximum size of the cache. It is emptied when full.
const mostClusters = 20000

func (r *rendered) cluster(uid types.UID, in *render.Input) *render.Cluster {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.clusters[uid]
	for i, c := range kept {
		if c.Renders(in) {
			copy(kept[1:i+1], kept[:i])
			kept[0] = c
			return c
		}
	}
	if r.clusters == nil || len(r.clusters) >= mostClusters {
		r.clusters = map[types.UID][]*render.Cluster{}
	}
	in.Spec = *in.Spec.DeepCopy()
	c := render.New(*in)
	r.clusters[uid] = append([]*render.Cluster{c}, kept[:min(len(kept), mostVariants-1)]...)
	return c
}

// drop removes the rendered objects of a cluster.
func (r *rendered) drop(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.clusters, uid)
}

// RenderInput returns the input of the renderer.
func (v *Snapshot) RenderInput(kafka *kafkav1beta2.Kafka) *render.Input {
	in := &render.Input{
		Namespace: kafka.Namespace, Name: kafka.Name, Spec: kafka.Spec, ClusterID: v.Identity.ID, Table: v.Table,
		Pools: make([]render.Pool, 0, len(v.Objects.Pools)), Nodes: make([]render.Node, 0, len(v.Nodes)),
	}
	for _, pool := range v.Objects.Pools {
		in.Pools = append(in.Pools, render.Pool{Name: pool.Name, Spec: pool.Spec})
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		node := render.Node{
			ID: n.ID, Pool: n.Pool, Pod: n.PodName, Controller: n.Roles.Controller, Broker: n.Roles.Broker,
			Runs: v.counts(n),
		}
		image, version := n.image()
		if known, err := v.Table.Find(version); !kafka.Spec.Kafka.Declares(version) || err != nil || !listed(known) {
			node.Image, node.Version = image, version
		}
		in.Nodes = append(in.Nodes, node)
	}
	return in
}

// counts reports whether the node counts for the disruption budget: it has a pod, or had one and is without it, or its pod is being created. A
// new node counts only then: its ids and its record may exist for long before it is started, and its pod may be refused. One that Kafka lists
// ran, also if that could not be recorded.
func (v *Snapshot) counts(n *Node) bool {
	ran := n.Recorded && n.Record.Started() && (n.Wanted || n.Entry.Exists)
	return n.Pod.Exists || ran || n.Entry.Exists && (!n.refused() || v.lists(n))
}

// refused reports whether the API server refuses to create the pod of the node.
func (n *Node) refused() bool { return n.Pod.Trouble != nil && n.Pod.Trouble.Reason == roll.PodRefused }

// lists reports whether Kafka lists the node as a broker, or as a voter that has a log.
func (v *Snapshot) lists(n *Node) bool {
	if brokers, known := Known(v.SeenBrokers); known && n.Entry.roles.Broker {
		if _, found := brokers.Find(n.ID); found {
			return true
		}
	}
	quorum, known := Known(v.SeenQuorum)
	if !known || !n.Entry.roles.Controller {
		return false
	}
	voter, votes := quorum.Voter(n.ID)
	return votes && voter.LogEndOffset > 0
}

// image returns the image with which the node runs or is created again, and its version; empty if it is unknown. It is the one of the entry,
// since a webhook may replace that of the pod, and then the entry would be rendered differently from what it is.
func (n *Node) image() (image, version string) {
	switch {
	case n.Entry.Exists && !n.Entry.Edited && (!n.Pod.Exists || n.Pod.Version == n.Entry.Version):
		return n.Entry.image, n.Entry.Version
	case n.Pod.Exists && n.Pod.Contradiction == nil:
		return n.Pod.Image, n.Pod.Version
	}
	return "", ""
}

// Derived returns what derive computes from the declaration of the cluster, which is cached until the declaration changes. derive may
// depend on nothing else, and callers must not modify the result.
func Derived[T any](k *kafkav1beta2.Kafka, v *Snapshot, name string, derive func(declared *render.Input) T) T {
	if v.Rendered == nil { // the snapshot was not collected
		return derive(v.RenderInput(k))
	}
	return render.Derived(v.Rendered, name, derive)
}

// Desired returns the desired revision of the node at a version of Kafka, whether or not the table contains it. Compare it with
// Revision. It returns an error for a node whose pool was deleted.
func (v *Snapshot) Desired(node *Node, version string) (string, error) {
	entry, err := v.Entry(node, version)
	if err != nil {
		return "", err
	}
	return entry.Revision, nil
}

// Entry returns the rendered StrimziPodSet entry of the node at a version of Kafka. It fails as Desired does.
func (v *Snapshot) Entry(node *Node, version string) (*render.Entry, error) {
	if v.Rendered == nil {
		return nil, fmt.Errorf("rendering node %d: the snapshot was not collected", node.ID)
	}
	return v.Rendered.Entry(node.ID, version)
}

// WrittenEntry returns the entry of the node as the operator wrote it, if it is still rendered like that; else nil.
func (v *Snapshot) WrittenEntry(n *Node) *render.Entry {
	for _, version := range []string{n.Entry.Version, n.Record.Version} {
		if version == "" {
			continue
		}
		if entry, err := v.Entry(n, version); err == nil && entryhash.Of(entry.PodEntry) == n.Entry.written {
			return entry
		}
	}
	return nil
}

// listed reports whether the table has a row for the version.
func listed(version versions.Version) bool {
	_, ok := version.Row()
	return ok
}

// WantedRevision returns the desired revision of the node on the version that it runs; empty if it is unknown. A broker that leaves
// is rolled like the others of its pool until it is stopped.
func (v *Snapshot) WantedRevision(n *Node) string {
	version := n.Version()
	if version == "" || !n.Wanted && !(n.Removal() == Leaves && !n.Stopped() && v.Pool(n.Pool) != nil) {
		return ""
	}
	wanted, err := v.Desired(n, version)
	if err != nil {
		return ""
	}
	return wanted
}

// Outdated reports whether the node differs from its desired state on its version, or a user requested its restart. A pod without a
// revision is adopted unchanged.
func (v *Snapshot) Outdated(n *Node) bool {
	wanted := v.WantedRevision(n)
	return wanted != "" && (n.Pod.RestartDue || n.Revision() != "" && n.Revision() != wanted)
}
