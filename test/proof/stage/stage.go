// Package stage runs a real API server, the manager as it runs in a cluster, and simulated kubelets and Kafka brokers in one
// process, for proofs about the whole.
package stage

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/detent-dev/detent/clients/kafka/versions"
	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/definitions"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/resource"
	kafkamanager "github.com/detent-dev/detent/kinds/kafka/manager"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// Options of a stage.
type Options struct {
	// Definitions to install. Each is established before anything else starts.
	Definitions []*apiextensionsv1.CustomResourceDefinition
	// AddToScheme adds the kinds of a test to the scheme of the manager. Optional.
	AddToScheme []func(*k8sruntime.Scheme) error
	// Log of the manager. Optional; default: none.
	Log logr.Logger
	// Journal of the manager. Optional; default: none.
	Journal lifecycle.Journal
	// Metrics makes the manager serve metrics, on the address in Stage.Metrics.
	Metrics bool
	// Register adds controllers of a test to a second manager. Optional.
	Register func(ctrl.Manager) error
}

// Stage is a running stage. The caller must call Stop.
type Stage struct {
	Client client.Client
	Config *rest.Config
	World  *simulator.World
	// Metrics is the address on which the manager serves its metrics.
	Metrics string

	plane   *controlplane.ControlPlane
	cancel  context.CancelFunc
	running []<-chan error
	proxy   *http.Server
}

const (
	// speed is the number of simulated seconds per second, and scale the deadline scale.
	speed = 20
	scale = 0.05
)

// Start starts everything and returns once the kinds are served. It runs until Stop, also after ctx is done.
func Start(ctx context.Context, o Options) (*Stage, error) {
	plane, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return nil, err
	}
	s := &Stage{plane: plane, Config: plane.AdminConfig()}
	if err := s.start(ctx, o); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Stage) start(ctx context.Context, o Options) error {
	scheme, err := resource.Scheme([]resource.Kind{kafkacontroller.Resource()})
	if err != nil {
		return err
	}
	for _, add := range append(o.AddToScheme, apiextensionsv1.AddToScheme) {
		if err := add(scheme); err != nil {
			return err
		}
	}
	installer, err := client.New(s.Config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	if err := definitions.Install(ctx, installer, o.Definitions); err != nil {
		return err
	}
	// A mapper reads the kinds when it is created.
	if s.Client, err = client.New(s.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	table, err := versions.Embedded()
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	s.World = simulator.NewWorld(simulator.Options{Table: table}, clock.RealClock{}, speed)
	if err := s.populate(ctx, running, scheme, o.Register); err != nil {
		return err
	}
	return s.manage(ctx, running, o, table)
}

// populate runs the simulated world, and the kubelets that start pods in it.
func (s *Stage) populate(ctx, running context.Context, scheme *k8sruntime.Scheme, register func(ctrl.Manager) error) error {
	mgr, err := ctrl.NewManager(rest.CopyConfig(s.Config), ctrl.Options{
		Scheme: scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"}, GracefulShutdownTimeout: new(time.Second),
	})
	if err != nil {
		return err
	}
	if err := kubelet.CreateNodes(ctx, s.Client, time.Now(), "node-1", "node-2", "node-3"); err != nil {
		return err
	}
	if err := kubelet.SetupWithManager(mgr, s.World); err != nil {
		return err
	}
	if register != nil {
		if err := register(mgr); err != nil {
			return err
		}
	}
	s.run(func() error { return mgr.Start(running) })
	s.run(func() error { return s.World.Run(running) })
	return nil
}

// manage runs the manager, which connects to brokers through a proxy into the simulated world.
func (s *Stage) manage(ctx, running context.Context, o Options, table *versions.Table) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.proxy = &http.Server{Handler: s.World.Proxy(), ReadHeaderTimeout: time.Second}
	s.run(func() error { return s.proxy.Serve(listener) })
	s.Metrics = "0"
	if o.Metrics {
		free, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		s.Metrics = free.Addr().String()
		if err := free.Close(); err != nil {
			return err
		}
	}
	s.run(func() error {
		return operator.Run(running, operator.Options{
			Config: rest.CopyConfig(s.Config), Version: "0.0.0-test", Kinds: []operator.Kind{kafkamanager.New(kafkamanager.Options{
				Table: table, Finalizing: observation.FinalizeAutomatically, Proxy: listener.Addr().String(),
			})},
			DeadlineScale: scale, Workers: 8, MetricsAddress: s.Metrics, HealthAddress: "0",
			SkipNameValidation: true, Log: o.Log, Journal: o.Journal,
		})
	})
	return nil
}

func (s *Stage) run(part func() error) {
	ended := make(chan error, 1)
	s.running = append(s.running, ended)
	go func() { ended <- part() }()
}

// Stop stops everything. It returns the errors of parts that ended for another reason.
func (s *Stage) Stop() error {
	var failures []error
	if s.cancel != nil {
		s.cancel()
	}
	if s.proxy != nil {
		failures = append(failures, s.proxy.Close())
	}
	for _, ended := range s.running {
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, context.Canceled) {
			failures = append(failures, err)
		}
	}
	if s.World != nil {
		s.World.Close()
	}
	return errors.Join(append(failures, s.plane.Stop())...)
}
