// Package operator assembles the manager: caches limited to Detent's objects, the controllers of Kafka and StrimziPodSet, and
// the pollers of Kafka clusters.
package operator

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/admin"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/podset"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
)

// Options of the manager.
type Options struct {
	// Config of the API server. Required.
	Config *rest.Config
	// Table of the versions of Kafka. Required.
	Table *versions.Table
	// Kafka are the options of the Kafka controller.
	Kafka kafka.Options
	// Namespaces to watch. Optional; default: all.
	Namespaces []string
	// Selector selects the Kafka resources that this manager reconciles, by their labels, with all that belongs to them.
	// Optional; default: all. Each of several managers that divide a fleet needs its own lease.
	Selector apilabels.Selector
	// MaxActive is how many clusters may roll their nodes at once. Optional; default: any number.
	MaxActive int
	// DeadlineScale is a factor for every declared deadline.
	DeadlineScale float64
	// Workers is the maximum number of concurrent reconciles of each controller.
	Workers int
	// LeaderElection elects one leader among the replicas. LeaderNamespace is the namespace of the lease. LeaseName is its
	// name; default: DefaultLeaseName.
	LeaderElection             bool
	LeaderNamespace, LeaseName string
	// LeaseDuration is how long the other replicas wait for a leader that does not renew its lease. Default:
	// DefaultLeaseDuration.
	LeaseDuration time.Duration
	// MetricsAddress and HealthAddress to listen on; "0" disables the endpoint.
	MetricsAddress, HealthAddress string
	// Registry receives the metrics of lifecycles. It can hold those of one manager. Optional; default: the registry that
	// MetricsAddress serves.
	Registry prometheus.Registerer
	// KafkaProxy is the address of an HTTP proxy for connections to brokers. Optional; default: direct connections.
	KafkaProxy string
	// Adopt permits the manager to run with the CRDs and leases of another operator.
	Adopt bool
	// SkipNameValidation permits several managers in one process, for tests.
	SkipNameValidation bool
	// Journal records decisions, for a replay with another build. Optional; default: none.
	Journal lifecycle.Journal
	Log     logr.Logger
}

// DefaultLeaseName is the lease of the leader election.
const DefaultLeaseName = "detent-manager"

// DefaultLeaseDuration leaves 10 seconds to renew the lease. The timeout of every call in a reconcile is shorter than that.
const DefaultLeaseDuration = 15 * time.Second

// Run runs the manager until the context ends. It returns an error if the preflight checks fail, the lease is lost or a required
// component fails.
func Run(ctx context.Context, o Options) error {
	if err := preflight(ctx, o); err != nil {
		return err
	}
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	lead := newLeadership(clock.RealClock{}, o)
	mgr, err := ctrl.NewManager(o.Config, managerOptions(o, scheme, lead))
	if err != nil {
		return fmt.Errorf("making the manager: %w", err)
	}
	observer, err := register(mgr, o, lead)
	if err != nil {
		return err
	}
	defer observer.Close()
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the manager: %w", err)
	}
	return nil
}

// Scheme returns a scheme with every kind that the manager reads or writes.
func Scheme() (*k8sruntime.Scheme, error) {
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, kafkav1beta2.AddToScheme, corev1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering kinds: %w", err)
		}
	}
	return scheme, nil
}

func managerOptions(o Options, scheme *k8sruntime.Scheme, lead *leadership) ctrl.Options {
	lease := lead.term
	return ctrl.Options{
		LeaseDuration: &lease, RenewDeadline: new(lease * 2 / 3), RetryPeriod: new(lease / 8),
		Scheme: scheme, Logger: o.Log, Cache: CacheOptions(o.Namespaces, o.Selector),
		LeaderElection: o.LeaderElection, LeaderElectionID: cmp.Or(o.LeaseName, DefaultLeaseName), LeaderElectionNamespace: o.LeaderNamespace,
		LeaderElectionConfig:          lead.config(o.Config),
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       metricsserver.Options{BindAddress: o.MetricsAddress},
		HealthProbeBindAddress:        o.HealthAddress,
		GracefulShutdownTimeout:       new(10 * time.Second),
	}
}

// register adds the controllers and the health checks, and returns the poller of Kafka clusters, which the caller must close.
func register(mgr ctrl.Manager, o Options, lead *leadership) (*kafka.Polled, error) {
	if o.Registry == nil {
		o.Registry = metrics.Registry
	}
	gauges, err := lifecycle.NewMetrics(o.Registry)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	observer, err := AddControllers(mgr, Wiring{
		Table: o.Table, Kafka: o.Kafka, Connect: connector(o), DeadlineScale: o.DeadlineScale, Workers: o.Workers,
		Metrics: gauges, SkipNameValidation: o.SkipNameValidation, Selector: o.Selector, Journal: o.Journal, MaxActive: o.MaxActive,
	})
	if err != nil {
		return nil, err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	if err := mgr.AddReadyzCheck("caches", cachesFilled(mgr.GetCache())); err != nil {
		return nil, err
	}
	if !o.LeaderElection {
		return observer, nil
	}
	return observer, mgr.AddReadyzCheck("lease", lead.check(mgr.Elected()))
}

// Wiring are the dependencies of the controllers, which may run in any manager.
type Wiring struct {
	// Table of the versions of Kafka. Required.
	Table *versions.Table
	// Kafka are the options of the Kafka controller.
	Kafka kafka.Options
	// Selector as in Options.
	Selector apilabels.Selector
	// Connect creates the client of a cluster and the function that closes it. Required.
	Connect func(kafka.Endpoint) (kafkaclient.Client, func(), error)
	// Alter changes the kind before it is registered, so that tests can intercept its calls. Optional; default: none.
	Alter func(*kafka.Kind)
	// DeadlineScale, MaxActive, Workers and SkipNameValidation as in Options.
	DeadlineScale      float64
	MaxActive          int
	Workers            int
	SkipNameValidation bool
	// Metrics of the reconciles. Optional; default: none.
	Metrics *lifecycle.Metrics
	// Journal as in Options.
	Journal lifecycle.Journal
}

// AddControllers adds the controllers to a manager, and returns the poller of Kafka clusters, which the caller must close.
func AddControllers(mgr ctrl.Manager, w Wiring) (*kafka.Polled, error) {
	clk := clock.RealClock{}
	wakeups := make(chan event.GenericEvent, 1024)
	system := &kafka.Polled{Protocol: kafka.NewProtocol(w.Connect), Wake: wake(wakeups), Clock: clk, Settle: external.SettleScaled(w.DeadlineScale)}
	collector := &kafka.Collector{Table: w.Table, System: system, Hosts: mgr.GetAPIReader(), Options: w.Kafka}
	watch := watchPools
	if w.MaxActive > 0 {
		fleet := &kafka.Fleet{Max: w.MaxActive, Clusters: mgr.GetClient()}
		collector.Fleet, watch = fleet, watchFleet(fleet)
	}
	effects := &kafka.Effects{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}
	kind, err := kafka.NewKind(collector, effects)
	if err != nil {
		return nil, err
	}
	if w.Alter != nil {
		w.Alter(&kind)
	}
	recorder, err := lifecycle.NewRecorder(mgr, "detent")
	if err != nil {
		return nil, err
	}
	children := lifecycle.NewChildren(mgr.GetClient(), mgr.GetAPIReader(), clk)
	disruptionLocks := lifecycle.NewDisruptionLocks()
	r := lifecycle.New(kind, lifecycle.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Children: children, DisruptionLocks: disruptionLocks, Clock: clk, Metrics: w.Metrics,
		Events: recorder, DeadlineScale: w.DeadlineScale, Journal: w.Journal,
	})
	err = r.SetupWithManager(mgr, lifecycle.Wiring{Workers: w.Workers, Wakeups: wakeups, Watch: watch, SkipNameValidation: w.SkipNameValidation})
	if err != nil {
		return nil, err
	}
	disruptor := &kafka.Disruptor{Collector: collector, DisruptionLocks: disruptionLocks, Live: mgr.GetAPIReader(), Clock: clk}
	sets := &podset.Reconciler{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Children: children, Clock: clk, Disrupt: disruptor.Disrupt}
	if w.Selector != nil {
		sets.Ours = selected(mgr.GetClient())
	}
	return system, sets.SetupWithManager(mgr, controller.Options{MaxConcurrentReconciles: w.Workers, SkipNameValidation: &w.SkipNameValidation})
}

// watchPools enqueues a Kafka resource for every event of one of its pools.
func watchPools(b *builder.Builder) {
	b.Watches(&kafkav1beta2.KafkaNodePool{}, handler.EnqueueRequestsFromMapFunc(kafka.ClusterOf))
}

// watchFleet also reconciles the clusters that a change of another cluster frees a slot for.
func watchFleet(fleet *kafka.Fleet) func(*builder.Builder) {
	return func(b *builder.Builder) {
		watchPools(b)
		b.Watches(&kafkav1beta2.Kafka{}, fleetHandler(fleet))
	}
}

func fleetHandler(fleet *kafka.Fleet) handler.Funcs {
	type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]
	changed := func(ctx context.Context, before, after client.Object, queue requests) {
		was, _ := before.(*kafkav1beta2.Kafka)
		is, _ := after.(*kafkav1beta2.Kafka)
		for _, next := range fleet.Changed(ctx, was, is) {
			queue.Add(next)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue requests) { changed(ctx, nil, e.Object, queue) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue requests) {
			changed(ctx, e.ObjectOld, e.ObjectNew, queue)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue requests) { changed(ctx, e.Object, nil, queue) },
	}
}

// selected returns a function that reports whether the cache holds the Kafka resource of a pod set. The pod set of a cluster that
// another manager reconciles is left to that manager. The pod set of a deleted cluster is left to the garbage collector.
func selected(cached client.Reader) func(context.Context, *corev1beta2.StrimziPodSet) (bool, error) {
	return func(ctx context.Context, set *corev1beta2.StrimziPodSet) (bool, error) {
		for _, of := range kafka.ClusterOf(ctx, set) {
			err := cached.Get(ctx, of.NamespacedName, &kafkav1beta2.Kafka{})
			return err == nil, client.IgnoreNotFound(err)
		}
		return false, nil
	}
}

// wake enqueues a Kafka resource when a poll has a result. It drops the event if the queue is full: every waiting state polls too.
func wake(wakeups chan<- event.GenericEvent) func(types.NamespacedName) {
	return func(name types.NamespacedName) {
		object := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
		select {
		case wakeups <- event.GenericEvent{Object: object}:
		default:
		}
	}
}

func connector(o Options) func(kafka.Endpoint) (kafkaclient.Client, func(), error) {
	return func(e kafka.Endpoint) (kafkaclient.Client, func(), error) {
		options := admin.Options{Bootstrap: e.Bootstrap, Nodes: e.NewestNodes, ClientID: "detent"}
		if o.KafkaProxy != "" {
			options.Dial = throughProxy(o.KafkaProxy)
		}
		c, err := admin.New(options)
		if err != nil {
			return nil, nil, err
		}
		return c, c.Close, nil
	}
}
