// Package manager adds the controllers of the Kafka kind to a manager: of Kafka resources with the pollers of their clusters, and of
// StrimziPodSets, those of other kinds included.
package manager

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/admin"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/children"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/disruption"
	"github.com/detent-dev/detent/controllers/kafka/fleet"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/controllers/podset"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/tunnel"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
)

// Options of the controllers.
type Options struct {
	// Table of the versions of Kafka. Required.
	Table *versions.Table
	// Finalizing determines who raises the metadata version. Required.
	Finalizing observation.Finalizing
	// MaxActive is how many clusters may roll their nodes at once. Optional; default: any number.
	MaxActive int
	// Proxy is the address of an HTTP proxy for connections to brokers. Optional; default: direct connections.
	Proxy string
	// Connect creates the client of a cluster and the function that closes it. Optional; default: a client of Kafka's protocol.
	Connect func(connection.Endpoint) (kafkaclient.Client, func(), error)
	// Alter changes the kind before it is registered, so that tests can intercept its calls. Optional; default: none.
	Alter func(*kafka.Kind)
}

// New returns the Kafka kind for a manager.
func New(o Options) operator.Kind {
	if o.Connect == nil {
		o.Connect = connector(o.Proxy)
	}
	return operator.Kind{
		Kind:  kafka.Resource(),
		Rival: &operator.Rival{Name: "Strimzi", Lease: "strimzi-cluster-operator", Label: "app", LabelValue: "strimzi"},
		Add:   func(p *operator.Process) (func(), error) { return add(p, o) },
	}
}

func add(p *operator.Process, o Options) (stop func(), err error) {
	cached, live := p.Manager.GetClient(), p.Manager.GetAPIReader()
	wakeups, wake := lifecycle.Wakeups(func() *kafkav1beta2.Kafka { return &kafkav1beta2.Kafka{} })
	system := &connection.Polled{Protocol: connection.NewProtocol(o.Connect), Wake: wake, Clock: p.Clock, Settle: external.SettleScaled(p.DeadlineScale)}
	collector := &observation.Collector{Table: o.Table, System: system, Hosts: live, Options: observation.Options{OperatorVersion: p.Version, Finalizing: o.Finalizing}}
	var watch func(*builder.Builder)
	if o.MaxActive > 0 {
		collector.Fleet = &fleet.Slots{Max: o.MaxActive, Clusters: cached}
		watch = watchFleet(collector.Fleet)
	}
	kind, err := kafka.NewKind(collector, &children.Reconciler{Client: cached, Live: live})
	if err != nil {
		return nil, err
	}
	if o.Alter != nil {
		o.Alter(&kind)
	}
	declared := kafka.Resource()
	if err := operator.AddReconciler(p, &declared, kind, wakeups, watch); err != nil {
		return nil, err
	}
	disruptor := &disruption.Disruptor{Collector: collector, DisruptionLocks: p.DisruptionLocks, Live: live, Clock: p.Clock}
	sets := &podset.Reconciler{Client: cached, Live: live, Children: p.Children, Clock: p.Clock, Disrupt: disruptor.Disrupt}
	if p.Selector != nil {
		sets.Ours = func(ctx context.Context, set *corev1beta2.StrimziPodSet) (bool, error) {
			return selected(ctx, cached, set, p.Kinds)
		}
	}
	return system.Close, sets.SetupWithManager(p.Manager, controller.Options{MaxConcurrentReconciles: p.Workers, SkipNameValidation: &p.SkipNameValidation})
}

// selected reports whether the cache holds the resource of a pod set. The pod set of a resource that another manager reconciles is left to
// that manager, and so is that of a kind that does not run here, whose resources no cache holds. The pod set of a deleted resource is left to
// the garbage collector.
func selected(ctx context.Context, cached client.Reader, set *corev1beta2.StrimziPodSet, kinds []string) (bool, error) {
	name := set.Labels[labels.Cluster]
	if name == "" {
		return false, nil
	}
	var owner client.Object = &kafkav1beta2.Kafka{}
	if set.Labels[labels.Kind] == labels.KindMirrorMaker2 {
		if !slices.Contains(kinds, labels.KindMirrorMaker2) {
			return false, nil
		}
		owner = &kafkav1beta2.KafkaMirrorMaker2{}
	}
	err := cached.Get(ctx, client.ObjectKey{Namespace: set.Namespace, Name: name}, owner)
	return err == nil, client.IgnoreNotFound(err)
}

func connector(proxy string) func(connection.Endpoint) (kafkaclient.Client, func(), error) {
	return func(e connection.Endpoint) (kafkaclient.Client, func(), error) {
		options := admin.Options{Bootstrap: e.Bootstrap, Nodes: e.NewestNodes, ClientID: "detent"}
		if proxy != "" {
			options.Dial = tunnel.Through(proxy)
		}
		c, err := admin.New(options)
		if err != nil {
			return nil, nil, err
		}
		return c, c.Close, nil
	}
}
