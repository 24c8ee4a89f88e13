package kafka

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/machines/noderoll"
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
}

// String describes the effect.
func (e Effect) String() string {
	switch {
	case e.Update != nil:
		return fmt.Sprintf("set %s=%d", e.Update.Name, e.Update.Level)
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
	rollBond    = machines.Binding[*Cluster, *Snapshot, noderoll.Facts, noderoll.Effect, Effect]
)

// Snapshot of the cluster: pods and their set as read, and the answers of Kafka.
type Snapshot struct {
	Pods  [Nodes]*Pod
	Set   *Set
	Facts kafkaversion.Facts
	// Slot is the position of this cluster in the limit on clusters that roll at once.
	Slot noderoll.Slot
}

// NewKind returns the kind of a cluster with the two given machines.
func NewKind(at *explore.Scenario, version versionDef, rolling rollDef) (Kind, error) {
	first, err := machines.Compile(version)
	if err != nil {
		return Kind{}, err
	}
	second, err := machines.Compile(rolling)
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
		},
		Observe: func(ctx context.Context, c *Cluster, request lifecycle.ObserveRequest) (*Snapshot, error) {
			return snapshot(ctx, at, c, request)
		},
		Execute: func(ctx context.Context, t lifecycle.EffectRequest[*Cluster, *Snapshot, Effect]) error {
			if t.Effect.Restart {
				return restart(ctx, at, &t)
			}
			k := of(at)
			k.asked(t.RequestID, t.Effect.Update)
			if c := t.Object; c.ByApproval && t.Effect.Update.Level > k.Level && c.Approved != approvalOf(t.RequestID.Attempt) {
				k.Harm = "the level is asked to be raised on an approval of another attempt"
			}
			return nil
		},
		Disrupts:     func(e Effect) (string, bool) { return fmt.Sprint(e.Node), e.Restart },
		Availability: availability,
		Repair:       repair,
		AlwaysNeeded: []transitions.Need{kafkaversion.NeedFeatures, roll.NeedBrokers},
	}, nil
}

// restart replaces a pod in three steps, after each of which the process may crash: mark, evict, switch.
func restart(ctx context.Context, at *explore.Scenario, t *lifecycle.EffectRequest[*Cluster, *Snapshot, Effect]) error {
	node, set := t.Effect.Node, t.Snapshot.Set
	if set == nil {
		return lifecycle.ErrWait
	}
	set, ok := set.DeepCopyObject().(*Set)
	if !ok {
		return lifecycle.ErrWait
	}
	entry := Entry{Version: t.Effect.Version, Config: t.Object.Config}
	if entry.Version == "" {
		entry.Version = runningVersion(t.Snapshot, node)
	}
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

func runningVersion(v *Snapshot, node int) string {
	if p := v.Pods[node]; p != nil {
		return p.Version
	}
	return v.Set.Entries[node].Version
}

func runningConfig(v *Snapshot, node int) int {
	if p := v.Pods[node]; p != nil {
		return p.Config
	}
	return v.Set.Entries[node].Config
}

// repair removes the mark of a restart that no lifecycle is working on.
func repair(ctx context.Context, c *Cluster, v *Snapshot, write lifecycle.Writer) error {
	if v.Set == nil || v.Set.Marked == None {
		return nil
	}
	for i := range c.Status.Lifecycles {
		e := &c.Status.Lifecycles[i]
		if e.State == roll.RestartingNode && e.Data["node"] == fmt.Sprint(v.Set.Marked) && c.Annotations[lifecycle.PauseAnnotation] == "" {
			return nil
		}
	}
	next, ok := v.Set.DeepCopyObject().(*Set)
	if !ok {
		return nil
	}
	next.Marked = None
	return write.Update(ctx, next)
}

func snapshot(ctx context.Context, at *explore.Scenario, c *Cluster, request lifecycle.ObserveRequest) (*Snapshot, error) {
	v := &Snapshot{Set: &Set{}}
	for i := range v.Pods {
		pod := &Pod{}
		err := request.Read.Get(ctx, client.ObjectKey{Namespace: namespace, Name: podName(i)}, pod)
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		if err == nil {
			v.Pods[i] = pod
		}
	}
	if err := request.Read.Get(ctx, client.ObjectKey{Namespace: namespace, Name: cluster}, v.Set); err != nil {
		return nil, err
	}
	v.Facts = observe(of(at), c, v, &request)
	if of(at).noSlot {
		v.Slot = noderoll.Slot{Position: 1, MaxActive: 1, Taken: 1}
	}
	return v, nil
}
