// Package operator assembles the manager of any kinds: caches limited to their objects, their controllers, the preflight checks,
// the leader election and the permissions that all this needs.
package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/detent-dev/detent/internal/garbage"
	"github.com/detent-dev/detent/internal/lease"
	"github.com/detent-dev/detent/internal/resource"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Options of the manager.
type Options struct {
	// Config of the API server. Required.
	Config *rest.Config
	// Version of the operator, which kinds may show in the status.
	Version string
	// Kinds that the manager reconciles. A kind whose rights are granted separately is left out while they are missing. Required.
	Kinds []Kind
	// Only are the names of the Kinds that are reconciled, whose rights must then be granted. Optional; default: all.
	Only []string
	// Namespaces to watch. Optional; default: all.
	Namespaces []string
	// Selector selects the resources that this manager reconciles, by their labels, with all that belongs to them.
	// Optional; default: all. Each of several managers that divide a fleet needs its own lease.
	Selector apilabels.Selector
	// DeadlineScale is a factor for every declared deadline.
	DeadlineScale float64
	// Workers is the maximum number of concurrent reconciles of each controller.
	Workers int
	// LeaderElection elects one leader among the replicas. LeaderNamespace is the namespace of the lease; default: that of the pod, and
	// outside of a pod ContextNamespace. LeaseName is its name; default: DefaultLeaseName.
	LeaderElection             bool
	LeaderNamespace, LeaseName string
	// ContextNamespace is the namespace of the kubeconfig's context. Optional.
	ContextNamespace string
	// assumedNamespace is true if LeaderNamespace is ContextNamespace because none was set.
	assumedNamespace bool
	// LeaseIdentity is the identity of this process in the lease. A process that finds its own identity there is the leader at
	// once, so no other process may have it at the same time. Default: the name of the host and a random id.
	LeaseIdentity string
	// LeaseDuration is how long the other replicas wait for a leader that does not renew its lease. Default:
	// DefaultLeaseDuration.
	LeaseDuration time.Duration
	// MetricsAddress and HealthAddress to listen on; "0" disables the endpoint.
	MetricsAddress, HealthAddress string
	// Registry receives the metrics of lifecycles. It can hold those of one manager. Optional; default: the registry that
	// MetricsAddress serves, or an own one if nothing is served.
	Registry prometheus.Registerer
	// Adopt permits the manager to run with the CRDs and leases of another operator.
	Adopt bool
	// SkipNameValidation permits several managers in one process, for tests.
	SkipNameValidation bool
	// Journal records decisions, for a replay with another build. Optional; default: none.
	Journal lifecycle.Journal
	Log     logr.Logger
}

// Run runs the manager until the context ends. It returns an error if the preflight checks fail, the lease is lost or a required
// component fails.
func Run(ctx context.Context, o Options) error {
	if err := o.placeLease(lease.NamespaceFile); err != nil {
		return err
	}
	if err := preflight(ctx, &o); err != nil {
		return err
	}
	lead := newLeadership(clock.RealClock{}, o)
	lock, closeLease, err := newLease(o, lead.config(o.Config), max(lead.renewal()/2, time.Second))
	if err != nil {
		return err
	}
	defer closeLease()
	options, err := managerOptions(o, lead, lock)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(o.Config, options)
	if err != nil {
		return fmt.Errorf("making the manager: %w", err)
	}
	if err := garbage.AddTo(mgr); err != nil {
		return fmt.Errorf("limiting the memory for garbage: %w", err)
	}
	stop, err := register(mgr, o, lead)
	if err != nil {
		return err
	}
	defer stop()
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the manager: %w", err)
	}
	return nil
}

func managerOptions(o Options, lead *leadership, lock resourcelock.Interface) (ctrl.Options, error) {
	scheme, err := resource.Scheme(declarations(o.Kinds))
	if err != nil {
		return ctrl.Options{}, err
	}
	caches, err := resource.CacheOptions(declarations(o.Kinds), o.Namespaces, o.Selector)
	if err != nil {
		return ctrl.Options{}, err
	}
	options := ctrl.Options{
		Scheme: scheme, Logger: o.Log, Cache: caches, NewClient: lifecycle.NewClient,
		Metrics:                 metricsserver.Options{BindAddress: o.MetricsAddress},
		HealthProbeBindAddress:  o.HealthAddress,
		GracefulShutdownTimeout: new(10 * time.Second),
	}
	if o.LeaderElection {
		elect(&options, lead, lock)
	}
	return options, nil
}

// registry returns where the metrics of the manager are registered. The one of controller-runtime belongs to the process: a second
// manager in the process, as in tests, can use it only after the first has ended with its process.
func registry(o Options) prometheus.Registerer {
	switch {
	case o.Registry != nil:
		return o.Registry
	case o.MetricsAddress == "0":
		return prometheus.NewRegistry()
	}
	return metrics.Registry
}

// register adds the controllers and the health checks. The caller must call the returned function when the manager has ended.
func register(mgr ctrl.Manager, o Options, lead *leadership) (stop func(), err error) {
	gauges, err := lifecycle.NewMetrics(registry(o))
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	stop, err = AddControllers(mgr, o.Kinds, Wiring{
		Version: o.Version, DeadlineScale: o.DeadlineScale, Workers: o.Workers, Metrics: gauges, SkipNameValidation: o.SkipNameValidation, Selector: o.Selector, Journal: o.Journal,
	})
	if err != nil {
		return nil, err
	}
	checks := []error{mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("caches", cachesFilled(mgr.GetCache()))}
	if o.LeaderElection {
		checks = append(checks, mgr.AddReadyzCheck("lease", lead.check(mgr.Elected())))
	}
	if err := errors.Join(checks...); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}
