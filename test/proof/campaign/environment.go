package campaign

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	utilwait "k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/definitions"
	"github.com/detent-dev/detent/test/lab"
)

// Environment is the environment of campaigns: one control plane and what all campaigns on it share.
type Environment struct {
	// Admin has every permission and reads from the API server.
	Admin client.Client
	// Lab runs the operators.
	Lab *lab.Lab

	plane     *controlplane.ControlPlane
	recorders *watchRecorders
	// beside is the manager of the watch recorder and of the controllers of the worlds.
	beside manager.Manager
	cancel context.CancelFunc
	ended  chan error
	spaces atomic.Int32
}

// NewEnvironment starts a control plane with the kinds of the subjects. beside, if not nil, adds controllers that simulate external
// systems, to a manager that watches every namespace. The caller must call Close.
func NewEnvironment(ctx context.Context, log io.Writer, beside func(context.Context, *Environment, ctrl.Manager) error, subjects ...*Subject) (*Environment, error) {
	scheme := k8sruntime.NewScheme()
	add := []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme}
	for _, s := range subjects {
		add = append(add, s.AddToScheme...)
	}
	for _, f := range add {
		if err := f(scheme); err != nil {
			return nil, err
		}
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{
		Log: log,
		// A thousand clusters have as many disruption budgets. Each of them changes with every change of one of its pods.
		ControllerManagerArgs: []string{"--kube-api-qps=1000", "--kube-api-burst=2000"},
	})
	if err != nil {
		return nil, err
	}
	a := &Environment{plane: plane, recorders: &watchRecorders{all: map[string]*WatchRecorder{}}, ended: make(chan error, 1)}
	if err := a.start(ctx, scheme, beside, subjects); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Environment) start(ctx context.Context, scheme *k8sruntime.Scheme, beside func(context.Context, *Environment, ctrl.Manager) error, subjects []*Subject) error {
	config := a.plane.AdminConfig()
	mapper, err := a.install(ctx, config, scheme, subjects)
	if err != nil {
		return err
	}
	if a.Admin, err = client.New(config, client.Options{Scheme: scheme, Mapper: mapper}); err != nil {
		return err
	}
	a.Lab = &lab.Lab{Config: config, Scheme: scheme, Mapper: mapper, Traffic: &lab.Traffic{}, Log: logr.Discard()}
	quiet := rest.CopyConfig(config)
	quiet.Wrap(unheard)
	a.beside, err = ctrl.NewManager(quiet, ctrl.Options{
		Scheme: scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"}, GracefulShutdownTimeout: new(time.Second),
	})
	if err != nil {
		return err
	}
	if beside != nil {
		if err := beside(ctx, a, a.beside); err != nil {
			return err
		}
	}
	running, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	seen := map[string]bool{}
	for _, s := range subjects {
		for _, kind := range s.Kinds {
			if seen[kindOf(kind)] {
				continue
			}
			seen[kindOf(kind)] = true
			informer, err := a.beside.GetCache().GetInformer(ctx, kind)
			if err != nil {
				return err
			}
			if _, err := informer.AddEventHandler(a.recorders); err != nil {
				return err
			}
		}
	}
	go func() { a.ended <- a.beside.Start(running) }()
	if !a.beside.GetCache().WaitForCacheSync(ctx) {
		return errors.New("the caches of the campaign were not filled")
	}
	return nil
}

// install installs the definitions and waits until discovery serves them.
func (a *Environment) install(ctx context.Context, config *rest.Config, scheme *k8sruntime.Scheme, subjects []*Subject) (meta.RESTMapper, error) {
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		needed, err := s.Definitions()
		if err != nil {
			return nil, err
		}
		if err := definitions.Install(ctx, c, needed); err != nil {
			return nil, err
		}
	}
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	var mapper meta.RESTMapper
	err = poll(ctx, func() bool { // a mapper also caches that a kind is missing
		if mapper, err = apiutil.NewDynamicRESTMapper(config, web); err != nil {
			return false
		}
		for _, s := range subjects {
			for _, kind := range s.Kinds {
				if _, err = apiutil.IsObjectNamespaced(kind, scheme, mapper); err != nil {
					return false
				}
			}
		}
		return true
	})
	return mapper, err
}

func poll(ctx context.Context, done func() bool) error {
	return utilwait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return done(), nil })
}

// Close stops everything.
func (a *Environment) Close() error {
	if a.cancel != nil {
		a.cancel()
		<-a.ended //nolint:errcheck // it ends because its context was cancelled
	}
	return a.plane.Stop()
}
