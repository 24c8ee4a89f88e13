// Package ceph is the kind of Ceph clusters: it connects the parts that its folders contain. In one reconcile a cluster is observed
// (observation), its lifecycle decides on facts of the observation (facts), its effects are executed, the objects of the cluster are
// written (children), and the status is set (status).
package ceph

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/controllers/ceph/children"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

type (
	bound         = machines.Lifecycle[*cephv1.Cluster, *observation.Snapshot, cephupgrade.Effect]
	effectRequest = lifecycle.EffectRequest[*cephv1.Cluster, *observation.Snapshot, cephupgrade.Effect]
	// Kind of the Cluster resource.
	Kind = lifecycle.Kind[*cephv1.Cluster, *observation.Snapshot, cephupgrade.Effect]
)

// observeTimeout is long enough for two calls of the ceph command, one after the other, on a machine with much load. A check before a
// daemon is stopped needs both.
const observeTimeout = 8 * time.Second

// NewKind assembles what the runtime needs to reconcile Ceph clusters.
func NewKind(collector *observation.Collector, objects *children.Reconciler) (Kind, error) {
	all, err := lifecycles()
	if err != nil {
		return Kind{}, fmt.Errorf("assembling the lifecycles of a Ceph cluster: %w", err)
	}
	declared := Resource()
	return Kind{
		Name: declared.Name, New: func() *cephv1.Cluster { return &cephv1.Cluster{} },
		Lifecycles: all, Owns: declared.Children(), OwnerOf: declared.OwnerOf,
		Observe: func(ctx context.Context, c *cephv1.Cluster, r lifecycle.ObserveRequest) (*observation.Snapshot, error) {
			return observe(ctx, collector, c, r)
		},
		ObserveTimeout: observeTimeout,
		Execute:        func(ctx context.Context, t effectRequest) error { return execute(ctx, objects, t) },
		Disrupts: func(e cephupgrade.Effect) (string, bool) {
			return e.Daemon.String(), e.Verb == cephupgrade.Replace || e.Verb == cephupgrade.Stop
		},
		Availability: facts.Availability,
		Repair:       objects.Repair, Apply: objects.Apply,
		AlwaysNeeded: []transitions.Need{cephupgrade.NeedCluster, cephupgrade.NeedHealth},
		Project:      status.Project, StatusEqual: status.Equal,
		Cleanup: func(object types.UID) {
			objects.Sender.Drop(object)
			collector.Cleanup(object)
		},
	}, nil
}

// observe observes a cluster. While a daemon is missing, the maps are read again: Ceph notices that a daemon has started, or was lost, after
// the last event of its pod.
func observe(ctx context.Context, collector *observation.Collector, c *cephv1.Cluster, r lifecycle.ObserveRequest) (*observation.Snapshot, error) {
	s, err := collector.Collect(ctx, c, r)
	if err == nil && !r.Live && facts.Missing(s) {
		collector.ReadAgain(ctx, s, r)
	}
	return s, err
}

// lifecycles returns the machines of a Ceph cluster, in the order of their precedence in the status.
func lifecycles() ([]bound, error) {
	upgrade, err := machines.Compile(cephupgrade.Definition())
	if err != nil {
		return nil, err
	}
	return []bound{machines.Bind(upgrade, machines.Binding[*cephv1.Cluster, *observation.Snapshot, cephupgrade.Facts, cephupgrade.Effect, cephupgrade.Effect]{
		Name: observation.LifecycleUpgrade, Facts: facts.Upgrade,
	})}, nil
}

// Machines returns the graphs of the machines of a Ceph cluster.
func Machines() ([]machines.Graph, error) {
	all, err := lifecycles()
	if err != nil {
		return nil, err
	}
	return machines.Graphs(all), nil
}

// Lifecycles returns the graphs of the machines of a Ceph cluster by the names of their lifecycles.
func Lifecycles() (map[string]machines.Graph, error) {
	all, err := lifecycles()
	if err != nil {
		return nil, err
	}
	return machines.GraphsByLifecycle(all), nil
}

// execute executes an effect. Those that do not concern Kubernetes are commands of Ceph.
func execute(ctx context.Context, objects *children.Reconciler, t effectRequest) error {
	e, s := t.Effect, t.Snapshot
	switch e.Verb {
	case cephupgrade.Detect:
		return objects.Detect(ctx, t.Object, s, t.Write, e.Image)
	case cephupgrade.Replace:
		return objects.Replace(ctx, t.Object, s, t.Write, e.Daemon, e.Image)
	case cephupgrade.Stop:
		return objects.Scale(ctx, t.Object, s, t.Write, e.Daemon, 0)
	case cephupgrade.Start:
		return objects.Scale(ctx, t.Object, s, t.Write, e.Daemon, 1)
	default:
		_, err := objects.Sender.Send(ctx, s.Endpoint, connection.Command{Upgrade: &e}, s.Now)
		return err
	}
}
