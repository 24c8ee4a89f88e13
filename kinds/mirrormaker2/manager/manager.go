// Package manager adds the controller of KafkaMirrorMaker2 resources to a manager, with the pollers of their workers. The pods of the
// workers are created by the controller of StrimziPodSets, which the Kafka kind adds.
package manager

import (
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/children"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/tunnel"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Options of the controller.
type Options struct {
	// Table of the versions of Kafka. Required.
	Table *versions.Table
	// Proxy is the address of an HTTP proxy for connections to workers. Optional; default: direct connections.
	Proxy string
	// Connect creates the clients of the workers of a resource. Optional; default: clients of Connect's REST API.
	Connect func(connection.Endpoint) (*connection.Workers, func(), error)
	// Alter changes the kind before it is registered, so that tests can intercept its calls. Optional; default: none.
	Alter func(*mirrormaker2.Kind)
}

// New returns the KafkaMirrorMaker2 kind for a manager.
func New(o Options) operator.Kind {
	if o.Connect == nil {
		var dial connection.Dialer
		if o.Proxy != "" {
			dial = tunnel.Through(o.Proxy)
		}
		o.Connect = connection.Over(dial)
	}
	return operator.Kind{Kind: mirrormaker2.Resource(), Requires: kafkav1beta2.KindKafka, Add: func(p *operator.Process) (func(), error) { return add(p, o) }}
}

func add(p *operator.Process, o Options) (stop func(), err error) {
	wakeups, wake := lifecycle.Wakeups(func() *kafkav1beta2.KafkaMirrorMaker2 { return &kafkav1beta2.KafkaMirrorMaker2{} })
	system := connection.NewPolled(o.Connect, wake, p.Clock, p.DeadlineScale)
	live := p.Manager.GetAPIReader()
	collector := &observation.Collector{Table: o.Table, System: system, Live: live, Hosts: live, Scale: p.DeadlineScale}
	kind, err := mirrormaker2.NewKind(collector, &children.Reconciler{Client: p.Manager.GetClient(), Live: live})
	if err != nil {
		return nil, err
	}
	if o.Alter != nil {
		o.Alter(&kind)
	}
	declared := mirrormaker2.Resource()
	return system.Close, operator.AddReconciler(p, &declared, kind, wakeups, nil)
}
