// Package manager adds the controller of the Ceph kind to a manager, with the pollers of its clusters.
package manager

import (
	"crypto/rand"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	controller "github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/controllers/ceph/children"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/internal/operator"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
)

// Options of the controller.
type Options struct {
	// Table of the releases of Ceph. Required.
	Table *versions.Table
	// Command is the path of the ceph command. Optional; default: it is run in a pod of each cluster.
	Command string
	// Connect creates the runner for a cluster and the function that closes it, in place of Command. Optional.
	Connect func(connection.Endpoint) (ceph.Runner, func(), error)
	// Alter changes the kind before it is registered, so that tests can intercept its calls. Optional; default: none.
	Alter func(*controller.Kind)
}

// New returns the Ceph kind for a manager.
func New(o Options) operator.Kind {
	return operator.Kind{
		Kind: controller.Resource(), // the kind of clusters of Rook is CephCluster, so that Rook is no rival
		Add:  func(p *operator.Process) (func(), error) { return add(p, o) },
	}
}

func add(p *operator.Process, o Options) (stop func(), err error) {
	live := p.Manager.GetAPIReader()
	tools := o.Connect == nil && o.Command == ""
	switch {
	case tools:
		if o.Connect, err = inPods(p.Manager.GetConfig(), p.Manager.GetClient(), p.Clock); err != nil {
			return nil, err
		}
	case o.Connect == nil:
		o.Connect = func(e connection.Endpoint) (ceph.Runner, func(), error) { return program(o.Command, e) }
	}
	wakeups, wake := lifecycle.Wakeups(func() *cephv1.Cluster { return &cephv1.Cluster{} })
	system := &connection.Polled{Protocol: connection.NewProtocol(o.Connect), Wake: wake, Clock: p.Clock, Settle: external.SettleScaled(p.DeadlineScale)}
	collector := &observation.Collector{Table: o.Table, System: system, Live: live}
	kind, err := controller.NewKind(collector, &children.Reconciler{
		Live: live, Sender: &connection.Sender{System: system}, Random: rand.Reader, Tools: tools,
		Forget: func(c *cephv1.Cluster) { collector.Forget(c.UID) },
	})
	if err != nil {
		return nil, err
	}
	if o.Alter != nil {
		o.Alter(&kind)
	}
	declared := controller.Resource()
	if err := operator.AddReconciler(p, &declared, kind, wakeups, nil); err != nil {
		return nil, err
	}
	return system.Close, nil
}
