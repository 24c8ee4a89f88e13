package kafka

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/kafka"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// Effect is a request of one of the lifecycles.
type Effect struct {
	// Restart of a node on a version. An empty version keeps the version of its pod.
	Restart bool
	Node    int
	Version string
	Update  *kafka.FeatureUpdate
	// Format permits formatting the storage of a node.
	Format bool
}

// String describes the effect.
func (e Effect) String() string {
	switch {
	case e.Update != nil:
		return fmt.Sprintf("set %s=%d", e.Update.Name, e.Update.Level)
	case e.Format:
		return fmt.Sprintf("permission to format the storage of node %d", e.Node)
	case e.Version == "":
		return fmt.Sprintf("restart of node %d", e.Node)
	}
	return fmt.Sprintf("restart of node %d on %s", e.Node, e.Version)
}

type (
	// Kind of the cluster.
	Kind = lifecycle.Kind[*Cluster, *Snapshot, Effect]
	// Lifecycle of the cluster.
	Lifecycle   = machines.Lifecycle[*Cluster, *Snapshot, Effect]
	versionDef  = machines.Definition[kafkaversion.Facts, roll.Data, kafkaversion.Effect]
	rollDef     = machines.Definition[noderoll.Facts, roll.Data, noderoll.Effect]
	versionBond = machines.Binding[*Cluster, *Snapshot, kafkaversion.Facts, kafkaversion.Effect, Effect]
	storageDef  = machines.Definition[nodestorage.Facts, roll.Data, nodestorage.Effect]
	storageBond = machines.Binding[*Cluster, *Snapshot, nodestorage.Facts, nodestorage.Effect, Effect]
	rollBond    = machines.Binding[*Cluster, *Snapshot, noderoll.Facts, noderoll.Effect, Effect]
)

// Snapshot of the cluster: pods and their set as read, and the answers of Kafka.
type Snapshot struct {
	Pods [Nodes]*Pod
	Set  *Set
	// Started are the versions in the records of the nodes, Format what the records say about formatting.
	Started [Nodes]string
	Format  [Nodes]format
	Facts   kafkaversion.Facts
	// Slot is the position of this cluster in the limit on clusters that roll at once.
	Slot noderoll.Slot
}

// NewKind returns the kind of a cluster with the given machines.
func NewKind(at *explore.Scenario, version versionDef, rolling rollDef, storage storageDef) (Kind, error) {
	first, err := machines.Compile(version)
	if err != nil {
		return Kind{}, err
	}
	second, err := machines.Compile(rolling)
	if err != nil {
		return Kind{}, err
	}
	third, err := machines.Compile(storage)
	if err != nil {
		return Kind{}, err
	}
	return Kind{
		Name: "Cluster", New: func() *Cluster { return &Cluster{} }, StatusEqual: func(_, _ *Cluster) bool { return true },
		Lifecycles: []Lifecycle{
			machines.Bind(first, versionBond{Name: "version", Facts: observeVersion, Effect: func(e kafkaversion.Effect) Effect {
				if e.Restart == nil {
					return Effect{Update: e.Update}
				}
				return Effect{Restart: true, Node: int(e.Restart.Node), Version: e.Restart.Version}
			}}),
			machines.Bind(second, rollBond{Name: "roll", Facts: observeRoll, Effect: func(e noderoll.Effect) Effect { return Effect{Restart: true, Node: int(e.Node)} }}),
			machines.Bind(third, storageBond{Name: "storage", Facts: observeStorage, Effect: func(e nodestorage.Effect) Effect { return Effect{Format: true, Node: int(e.Node)} }}),
		},
		Observe: func(ctx context.Context, c *Cluster, request lifecycle.ObserveRequest) (*Snapshot, error) {
			return snapshot(ctx, at, c, request)
		},
		Execute: func(ctx context.Context, t lifecycle.EffectRequest[*Cluster, *Snapshot, Effect]) error {
			if t.Effect.Restart {
				return restart(ctx, at, &t)
			}
			k := of(at)
			if t.Effect.Format {
				approved := approveFormat + t.RequestID.Attempt + "/" + podName(t.Effect.Node)
				k.permitted(t.Effect.Node, t.Object.Approved == approved, at.Now())
				return nil
			}
			k.asked(t.RequestID, t.Effect.Update)
			if c := t.Object; c.ByApproval && t.Effect.Update.Level > k.Level && c.Approved != approvalOf(t.RequestID.Attempt) {
				k.Harm = "the level is asked to be raised on an approval of another attempt"
			}
			return nil
		},
		Disrupts: func(e Effect) (string, bool) {
			if !e.Restart {
				return "", false
			}
			return fmt.Sprint(e.Node), true
		},
		Availability: availability,
		Repair:       repair,
		AlwaysNeeded: []transitions.Need{kafkaversion.NeedFeatures, roll.NeedBrokers},
	}, nil
}

// restart replaces a pod in three steps, after each of which the process may crash: mark, evict, switch.
func restart(ctx context.Context, at *explore.Scenario, t *lifecycle.EffectRequest[*Cluster, *Snapshot, Effect]) error {
	node := t.Effect.Node
	if t.Snapshot.entry(node) == (Entry{}) {
		return lifecycle.ErrWait
	}
	set, ok := t.Snapshot.Set.DeepCopyObject().(*Set)
	if !ok {
		return lifecycle.ErrWait
	}
	entry := Entry{Version: cmp.Or(t.Effect.Version, t.Snapshot.version(node)), Config: t.Object.Config}
	if pod := t.Snapshot.Pods[node]; pod != nil && pod.Entry != entry {
		if set.Marked != node {
			set.Marked = node
			if err := t.Write.Update(ctx, set); err != nil {
				return err
			}
		}
		of(at).taken(node, podsOf(at))
		if err := t.Write.Delete(ctx, pod); err != nil {
			return err
		}
	}
	if set.Marked != node && set.Entries[node] == entry {
		return nil
	}
	if set.Marked == node {
		set.Marked = None
	}
	set.Entries[node] = entry
	return t.Write.Update(ctx, set)
}

// repair creates lost entries again, of what runs or ran last, and removes the mark of a restart that no lifecycle is working on.
func repair(ctx context.Context, c *Cluster, v *Snapshot, write lifecycle.Writer) error {
	next := &Set{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster}, Marked: None}
	if v.Set != nil {
		next, _ = v.Set.DeepCopyObject().(*Set)
	}
	for i := range next.Entries {
		if next.Entries[i] == (Entry{}) {
			next.Entries[i] = v.lost(c, i)
		}
	}
	if next.Marked != None && !restartsNode(c, next.Marked) {
		next.Marked = None
	}
	switch {
	case v.Set == nil && next.Entries == [Nodes]Entry{}, v.Set != nil && next.Marked == v.Set.Marked && next.Entries == v.Set.Entries:
		return nil
	case v.Set == nil:
		return write.Create(ctx, next)
	}
	return write.Update(ctx, next)
}

// lost returns the entry of a node that has lost its own: from its pod, else from its record.
func (v *Snapshot) lost(c *Cluster, i int) Entry {
	switch pod, version := v.Pods[i], v.version(i); {
	case pod != nil && sameNumber(pod.Version, version):
		return Entry{Version: version, Config: pod.Config}
	case pod == nil && v.Started[i] != "":
		return Entry{Version: version, Config: c.Config}
	}
	return Entry{}
}

// restartsNode reports whether a lifecycle is restarting the node now. In a paused cluster none is.
func restartsNode(c *Cluster, node int) bool {
	return !lifecycle.IsPaused(c) && slices.ContainsFunc(c.Status.Lifecycles, func(e lifecyclev1.Lifecycle) bool {
		return e.State == roll.RestartingNode && e.Data["node"] == fmt.Sprint(node)
	})
}

// otherCluster may hold the only slot.
const otherCluster = "default/other"

// holdsSlot reports whether the cluster rolls and so keeps its slot.
func holdsSlot(c *Cluster) bool {
	return slices.ContainsFunc(c.Status.Lifecycles, func(e lifecyclev1.Lifecycle) bool {
		return e.Name == "roll" && e.State != noderoll.Settled && e.State != noderoll.AwaitingSlot
	})
}

func snapshot(ctx context.Context, at *explore.Scenario, c *Cluster, request lifecycle.ObserveRequest) (*Snapshot, error) {
	v := &Snapshot{Set: &Set{}}
	w := of(at)
	for i := range v.Pods {
		pod := &Pod{}
		err := request.Read.Get(ctx, client.ObjectKey{Namespace: namespace, Name: podName(i)}, pod)
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		if err == nil {
			v.Pods[i] = pod
		}
		v.Started[i], v.Format[i] = w.nodes[i].version, w.nodes[i].format
	}
	switch err := request.Read.Get(ctx, client.ObjectKey{Namespace: namespace, Name: cluster}, v.Set); {
	case lifecycle.ObjectMissing(err):
		v.Set = nil
	case err != nil:
		return nil, err
	}
	v.Facts = observe(w, c, v, &request)
	if w.noSlot && !holdsSlot(c) {
		v.Slot = noderoll.Slot{Position: 1, MaxActive: 1, Taken: 1, Holders: []noderoll.Holder{{Cluster: otherCluster}}}
	}
	return v, nil
}
